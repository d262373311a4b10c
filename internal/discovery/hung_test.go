package discovery

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// A file whose file system hangs affects no other hook: its hooks stay in force, the
// snapshot says so, and all is read again once it answers.
func TestFilesThatDoNotAnswer(t *testing.T) {
	mended := make(chan struct{})
	w := newWorld(t, nil)
	w.write("agents.txt", "one=old\n")
	w.hook("hooks/other", "other", "first")
	hangs := false // only scans look at it, one at a time
	w.d = New(Options{
		Root: w.root, Quiet: 10 * time.Millisecond, Max: 100 * time.Millisecond, Rescan: time.Hour, Poll: 10 * time.Millisecond, Answer: time.Second,
		Files: []FilePlace{{Type: "list", Pattern: w.path("agents.txt"), Parse: func(path string, text []byte) ([]*hook.Hook, []hook.Problem) {
			if hangs {
				<-mended
			}
			return readList(path, text)
		}}},
	})
	w.d.Load()
	hangs = true
	w.write("agents.txt", "one=new\n")
	w.hook("hooks/other", "other", "second")
	snap := w.d.Load()
	if e := entry(snap, "one"); e == nil || e.State != hook.Degraded || e.Hook.ScriptText != "old" || !strings.Contains(e.Problems[0].Message, "does not answer") {
		t.Errorf("what hangs: %+v", e)
	}
	if e := entry(snap, "other"); e == nil || e.Hook.Description != "second" {
		t.Errorf("what does not hang: %+v", e)
	}
	if how := w.d.Watching(); !strings.Contains(how, "no answer from list:"+w.path("agents.txt")) {
		t.Errorf("it is not said: %s", how)
	}
	w.run()
	close(mended)
	w.await("the newer text", func(s *hook.Snapshot) bool {
		e := entry(s, "one")
		return e != nil && e.State == hook.Active && e.Hook.ScriptText == "new"
	})
	if how := w.d.Watching(); strings.Contains(how, "no answer") {
		t.Errorf("it is said still: %s", how)
	}
}

// hangOn makes calls on a path hang until the test ends, as d sees it.
func hangOn(t *testing.T, d *Discovery, path string) {
	t.Helper()
	mended := make(chan struct{})
	ended := make(chan struct{})
	limit := readfile.NewPatience(time.Millisecond, nil)
	d.files = limit
	if limit.Try(path, func() { <-mended; close(ended) }) {
		t.Fatal("a call that hangs has returned")
	}
	t.Cleanup(func() { close(mended); <-ended })
}

// Where hooks cannot be listed at the start, those of the last good texts stand and
// are refused: a guard denies, and no file of theirs is looked at.
func TestHooksOfAPlaceThatHangsAtTheStart(t *testing.T) {
	for name, option := range map[string]func(o *Options, source hook.Source, text []byte){
		"last good": func(o *Options, source hook.Source, text []byte) {
			o.Known = func() []hook.Source { return []hook.Source{source, {Type: "other", Path: "/elsewhere/x"}} }
			o.LastGood = func(u hook.Source) []byte { return map[hook.Source][]byte{source: text}[u] }
		},
		"allowed": func(o *Options, source hook.Source, text []byte) {
			file := filepath.Join(source.Path, "HOOK.yaml")
			o.Approved = func() map[string]Approval {
				return map[string]Approval{"guard": {
					Hook: "guard", Name: "guard", Source: source, File: file, Texts: map[string][]byte{file: text},
				}}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := []byte("name: guard\nevents: pre_tool_use\ncommand: guard.sh\n")
			w := newWorld(t, func(o *Options) {
				option(o, hook.Source{Type: "hooks_dir", Path: filepath.Join(o.Root, "guard")}, text)
			})
			hangOn(t, w.d, w.root)
			snap := w.d.Load()
			e := entry(snap, "guard")
			if e == nil || e.State != hook.Degraded && e.State != hook.Refused || e.Hook == nil ||
				len(e.Hook.Seal.Refusals()) == 0 || e.Hook.OnError != hook.OnErrorDeny {
				t.Fatalf("guard: %s", describe(snap))
			}
			if len(snap.Problems) != 1 || !strings.Contains(snap.Problems[0].Message, "does not answer") {
				t.Errorf("problems: %v", snap.Problems)
			}
		})
	}
}

// Pipes, devices and huge files in place of hooks are problems of those files and
// block nothing.
func TestWhatIsNoFileOfHooks(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"huge":   func(path string) error { return os.Truncate(path, 10<<30) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "agents.txt")
			if name == "huge" {
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := make(file); err != nil {
				t.Fatal(err)
			}
			for _, pattern := range []string{file, filepath.Join(dir, "*.txt"), filepath.Join(filepath.Dir(dir), "*", "agents.txt")} {
				s := Scan(Options{Root: filepath.Join(dir, "hooks"), Files: []FilePlace{{Type: "list", Pattern: pattern, Parse: readList}}}, nil)
				if len(s.Entries) != 1 || s.Entries[0].State != hook.Rejected {
					t.Errorf("%s: %s", pattern, describe(s))
				}
			}
		})
	}
}

// The program of a hook in force is watched, also while its file is broken.
func TestTheProgramOfADegradedHookIsWatched(t *testing.T) {
	w := start(t)
	w.hook("hooks/a", "a", "good")
	w.mkdir("elsewhere")
	w.write("elsewhere/run.sh", "#!/bin/sh\n")
	w.write("hooks/a/HOOK.yaml", "name: a\nevents: agent:end\ncommand: "+w.path("elsewhere/run.sh")+"\n")
	w.await("the program elsewhere", func(s *hook.Snapshot) bool {
		e := entry(s, "a")
		return e != nil && e.State == hook.Active && e.Hook.Path == w.path("elsewhere/run.sh")
	})
	w.write("hooks/a/HOOK.yaml", "broken: [")
	before := entry(w.awaitState("a", hook.Degraded), "a").Hook.Digest
	w.write("elsewhere/run.sh", "#!/bin/sh\nexit 1\n")
	w.await("the change of the program", func(s *hook.Snapshot) bool {
		e := entry(s, "a")
		return e != nil && e.State == hook.Degraded && e.Hook.Digest != before
	})
}

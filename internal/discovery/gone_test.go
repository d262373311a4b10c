package discovery

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// guards is newAsking with everything allowed, and hooks of the file that guard.
func guards(t *testing.T) *asking {
	a := newAsking(t)
	a.opts.Files[0].Parse = readGuards
	a.opts.Parsers["list"] = readGuards
	for _, name := range []string{"guard", "one", "two"} {
		a.allow(name)
	}
	return a
}

func readGuards(path string, text []byte) ([]*hook.Hook, []hook.Problem) {
	if strings.Contains(string(text), "broken") {
		return nil, []hook.Problem{{File: path, Message: "broken"}}
	}
	hooks, problems := readList(path, text)
	for _, h := range hooks {
		takesPart := true
		h.Blocking, h.Patterns, h.Definition = &takesPart, []pattern.Pattern{{Text: "pre_tool_use"}}, ""
	}
	return hooks, problems
}

// denies checks that a removed hook has an entry whose runs fail and deny. The entry
// names the command to type.
func (a *asking) denies(name string) {
	a.Helper()
	e := a.scan(name)
	if e.State != hook.Gone || e.Hook == nil || e.Hook.OnError != hook.OnErrorDeny || len(e.Problems) != 1 {
		a.Fatalf("%s: %+v, want it gone and denying", name, e)
	}
	if err := e.Hook.Seal.Check(); err == nil || !strings.Contains(err.Error(), "hookd allow --gone "+name) {
		a.Errorf("%s fails with %v", name, err)
	}
	runs := false
	for _, h := range a.last.Runnable() {
		runs = runs || h == e.Hook
	}
	if again := a.scan(name); !runs || again.Hook != e.Hook {
		a.Errorf("%s is matched: %v; after another scan it is %p, was %p", name, runs, again.Hook, e.Hook)
	}
}

// However an allowed guard is removed, it denies until the removal is allowed, also
// after a restart; when it comes back it is as before.
func TestAnAllowedGuardThatIsGone(t *testing.T) {
	for name, tt := range map[string]struct {
		gone []string
		do   func(a *asking, dir string)
		undo func(a *asking, dir string)
	}{
		"removed folder": {[]string{"guard"},
			func(a *asking, dir string) { a.must(os.Rename(dir+"/hooks/guard", dir+"/away")) },
			func(a *asking, dir string) { a.must(os.Rename(dir+"/away", dir+"/hooks/guard")) }},
		"folder with a name that does not count": {[]string{"guard"},
			func(a *asking, dir string) { a.must(os.Rename(dir+"/hooks/guard", dir+"/hooks/guard.disabled")) },
			func(a *asking, dir string) { a.must(os.Rename(dir+"/hooks/guard.disabled", dir+"/hooks/guard")) }},
		"removed root": {[]string{"guard"},
			func(a *asking, dir string) { a.must(os.Rename(dir+"/hooks", dir+"/away")) },
			func(a *asking, dir string) { a.must(os.Rename(dir+"/away", dir+"/hooks")) }},
		"another root": {[]string{"guard"},
			func(a *asking, dir string) { a.opts.Root = dir + "/hooks/guard" },
			func(a *asking, dir string) { a.opts.Root = dir + "/hooks" }},
		"link that leads nowhere": {[]string{"guard"},
			func(a *asking, dir string) {
				a.must(os.Rename(dir+"/hooks/guard", dir+"/away"))
				a.must(os.Symlink(dir+"/nowhere", dir+"/hooks/guard"))
			},
			func(a *asking, dir string) {
				a.must(os.Remove(dir + "/hooks/guard"))
				a.must(os.Rename(dir+"/away", dir+"/hooks/guard"))
			}},
		"no source": {[]string{"one", "two"},
			func(a *asking, dir string) { a.opts.Files = nil },
			func(a *asking, dir string) {
				a.opts.Files = []FilePlace{{Type: "list", Pattern: dir + "/agents.txt", Parse: readGuards}}
			}},
		"source is a glob and the file is gone": {[]string{"one", "two"},
			func(a *asking, dir string) {
				a.opts.Files = []FilePlace{{Type: "list", Pattern: dir + "/*.txt", Parse: readGuards}}
				a.must(os.Rename(dir+"/agents.txt", dir+"/away"))
			},
			func(a *asking, dir string) { a.must(os.Rename(dir+"/away", dir+"/agents.txt")) }},
	} {
		t.Run(name, func(t *testing.T) {
			a := guards(t)
			dir := filepath.Dir(a.opts.Root)
			tt.do(a, dir)
			for _, restart := range []func(){func() {}, a.restart} {
				restart()
				for _, hook := range tt.gone {
					a.denies(hook)
				}
			}
			tt.undo(a, dir)
			for _, name := range []string{"guard", "one", "two"} {
				if e := a.scan(name); e.State != hook.Active {
					t.Errorf("back again %s is %s: %v", name, e.State, e.Problems)
				}
			}
		})
	}
}

func (a *asking) must(err error) {
	a.Helper()
	if err != nil {
		a.Fatal(err)
	}
}

// A file of hooks is broken when hookd starts: its hooks that were allowed are
// in force, also without a stored last good version.
func TestABrokenFileOfHooksAfterARestart(t *testing.T) {
	a := guards(t)
	for _, text := range []string{"broken", ""} {
		a.write("agents.txt", text)
		a.restart()
		for _, name := range []string{"one", "two"} {
			switch e := a.scan(name); {
			case text == "":
				a.denies(name)
			case e.State != hook.Degraded || e.Hook.ScriptText != "true" || len(e.Hook.Seal.Refusals()) > 0:
				t.Errorf("%s: %+v, want what was allowed", name, e)
			}
		}
	}
	a.write("hooks/guard/HOOK.yaml", "broken: [")
	a.restart()
	if e := a.scan("guard"); e.State != hook.Degraded || e.Hook.Patterns[0].Text != "pre_tool_use" || len(e.Hook.Seal.Refusals()) > 0 {
		t.Errorf("guard: %+v, want what was allowed", e)
	}
	a.write("hooks/guard/run.sh", "#!/bin/sh\nexit 7\n")
	a.restart()
	if e := a.scan("guard"); e.Hook == nil || len(e.Hook.Seal.Refusals()) == 0 || e.Hook.OnError != hook.OnErrorDeny {
		t.Errorf("guard with another program: %+v, want it to deny", e)
	}
}

// A marker that was not allowed switches nothing off, a removed observer denies
// nothing, and a removal that was allowed has no entry.
func TestWhatMayBeGone(t *testing.T) {
	a := guards(t)
	off := true
	a.opts.Disabled = func() func(string) bool { return func(name string) bool { return off && name == "guard" } }
	if e := a.scan("guard"); e.State != hook.Waiting || e.Waits != e.Hook || len(a.last.Runnable()) != 3 {
		t.Errorf("switched off by a marker alone: %+v", e)
	}
	p, _ := a.approvals.Get("guard")
	p.Off = true
	a.must(a.approvals.Put(p))
	if e := a.scan("guard"); e.State != hook.Disabled || len(a.last.Runnable()) != 2 {
		t.Errorf("switched off, which is allowed: %+v", e)
	}
	a.must(os.Rename(filepath.Join(a.opts.Root, "guard"), filepath.Join(a.opts.Root, ".guard")))
	if a.scan("one"); len(a.last.Entries) != 2 {
		t.Errorf("gone while it was off: %+v", a.last.Entries)
	}
	off = false
	a.denies("guard")
	p.Gone = true
	a.must(a.approvals.Put(p))
	if a.scan("one"); len(a.last.Entries) != 2 {
		t.Errorf("allowed to be gone: %+v", a.last.Entries)
	}
	a.must(os.Rename(filepath.Join(a.opts.Root, ".guard"), filepath.Join(a.opts.Root, "guard")))
	a.inForce(a.scan("guard"), "nothing")

	a.write("hooks/note/HOOK.yaml", "name: note\nevents: ['*']\ncommand: ./run.sh\n")
	a.write("hooks/note/run.sh", "#!/bin/sh\n")
	a.allow("note")
	a.must(os.RemoveAll(filepath.Join(a.opts.Root, "note")))
	if a.scan("one"); len(a.last.Entries) != 3 {
		t.Errorf("an observer that is gone: %+v", a.last.Entries)
	}
}

// The content counts: another program of the same length, inode, mode and times is
// not the allowed one.
func TestTheSameFactsAndOtherBytes(t *testing.T) {
	a := guards(t)
	program := filepath.Join(a.opts.Root, "guard", "run.sh")
	info, err := os.Stat(program)
	a.must(err)
	sealed := a.scan("guard").Hook.Seal
	a.must(os.WriteFile(program, []byte("#!/bin/sh\nexit 7\n"), 0))
	a.must(os.Chtimes(program, info.ModTime(), info.ModTime()))
	if now, err := os.Stat(program); err != nil || now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime()) || !os.SameFile(now, info) {
		t.Fatalf("%v, %v: not the same facts as %v", now, err, info)
	}
	var changed *trust.Changed
	if err := sealed.Check(); !errors.As(err, &changed) {
		t.Errorf("what was sealed starts: %v", err)
	}
	a.inForce(a.scan("guard"), "refused")
	a.restart()
	a.inForce(a.scan("guard"), "refused")
	a.must(os.WriteFile(program, []byte("#!/bin/sh\nexit 0\n"), 0))
	if err := sealed.Check(); errors.As(err, &changed) && a.scan("guard").Hook.Seal.Check() != nil {
		t.Errorf("the allowed bytes are back, and refused: %v", err)
	}
	if e := a.scan("guard"); e.State != hook.Active {
		t.Errorf("the allowed bytes are back, and it is %s", e.State)
	}
	a.must(os.Link(program, program+".backup"))
	if err := a.scan("guard").Hook.Seal.Check(); err != nil {
		t.Errorf("a new link to the same bytes: %v", err)
	}
}

package proc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/pause"
)

// script writes a file to run, so that no fork of another test holds it open.
func script(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestStartErrors(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	plain := script(t, "plain", "text", 0o644)
	tests := []struct {
		name string
		spec Spec
		err  error    // the system's
		want []string // in the text
	}{
		{"missing", Spec{Path: "/nowhere/hook.sh"}, unix.ENOENT, []string{"no such file", "ls -l /nowhere"}},
		{"dangling-link", Spec{Path: link}, unix.ENOENT, []string{"symbolic link to nowhere", "ls -l " + link}},
		{"empty", Spec{Path: script(t, "e", "", 0o755)}, unix.ENOEXEC, []string{"is empty", "#!/bin/sh"}},
		{"no-shebang", Spec{Path: script(t, "n", "echo hi\n", 0o755)}, unix.ENOEXEC, []string{"first line", "put #!/bin/sh", "head -n 1"}},
		{"bom", Spec{Path: script(t, "b", "\xef\xbb\xbf#!/bin/sh\n", 0o755)}, unix.ENOEXEC, []string{"byte order mark", "tail -c +4 <"}},
		{"bare-shebang", Spec{Path: script(t, "s", "#!\necho\n", 0o755)}, unix.ENOEXEC, []string{"names no interpreter"}},
		{"elf-broken", Spec{Path: script(t, "elf", "\x7fELF\x02\x01\x01", 0o755)}, unix.ENOEXEC, []string{"another kind of machine", "file "}},
		{"no-interpreter", Spec{Path: script(t, "i", "#! /opt/none/python3 -u\n", 0o755)}, unix.ENOENT, []string{"asks for /opt/none/python3,", "does not exist"}},
		{"crlf", Spec{Path: script(t, "c", "#!/bin/sh\r\necho hi\r\n", 0o755)}, unix.ENOENT, []string{"carriage return", `"/bin/sh\r"`, `tr -d '\r' <`}},
		{"not-executable", Spec{Path: plain}, unix.EACCES, []string{"not executable", "chmod +x " + plain}},
		{"quoted", Spec{Path: script(t, "a b's", "#!/bin/sh\n", 0o644)}, unix.EACCES, []string{"chmod +x '", `a b'\''s'`}},
		{"directory", Spec{Path: dir}, unix.EACCES, []string{"is a directory"}},
		{"interpreter-directory", Spec{Path: script(t, "d", "#!/tmp\n", 0o755)}, unix.EACCES, []string{"asks for /tmp, which cannot be run"}},
		{"below-a-file", Spec{Path: plain + "/x"}, unix.ENOTDIR, []string{plain + " is a file"}},
		{"working-dir", Spec{Path: "/bin/sh", Dir: "/nowhere/at all"}, unix.ENOENT, []string{"working directory /nowhere/at all does not exist", "mkdir -p '/nowhere/at all'"}},
		{"working-file", Spec{Path: "/bin/sh", Dir: plain}, unix.ENOTDIR, []string{"working directory", "not a directory"}},
		{"too-big", Spec{Path: "/bin/sh", Env: []string{"SECRET=" + strings.Repeat("v", 3<<20)}}, unix.E2BIG, []string{"more than the system accepts", "variable SECRET", "getconf ARG_MAX"}},
		{"relative", Spec{Path: "hook.sh"}, unix.EINVAL, []string{"not absolute"}},
		{"relative-dir", Spec{Path: "/bin/sh", Dir: "x"}, unix.EINVAL, []string{"not absolute"}},
		{"nul-argument", Spec{Path: "/bin/sh", Args: []string{"a\x00b"}}, unix.EINVAL, []string{"NUL byte"}},
		{"nul-variable", Spec{Path: "/bin/sh", Env: []string{"A=1", "SECRET=v\x00w"}}, unix.EINVAL, []string{"SECRET has a NUL byte"}},
	}
	eachRunner(t, func(t *testing.T, r *Runner) {
		for _, c := range tests {
			t.Run(c.name, func(t *testing.T) {
				if c.spec.Timeout = time.Minute; c.spec.Dir == "" {
					c.spec.Dir = t.TempDir()
				}
				c.spec.Started = func(Process) { t.Error("started") }
				e := r.Run(t.Context(), c.spec)
				var start *StartError
				if !errors.As(e.Err, &start) || start.Path != c.spec.Path || !errors.Is(e.Err, c.err) {
					t.Fatalf("got %+v, want a StartError for %s with %v", e.Err, c.spec.Path, c.err)
				}
				for _, want := range append(c.want, "start "+c.spec.Path+": ") {
					if !strings.Contains(e.Err.Error(), want) {
						t.Errorf("got %q, want %q in it", e.Err, want)
					}
				}
				if strings.Contains(e.Err.Error(), "vvvv") {
					t.Error("the value of a variable is in the message")
				}
				if e.Code != -1 || e.PID != 0 || e.Late != nil {
					t.Errorf("got %+v, want nothing started", e)
				}
			})
		}
	})
	if got := len(newRunner(t, Options{}).groups.folder()); got != 0 {
		t.Errorf("got a cgroup without asking for one")
	}
}

// The commands that the messages give people to type keep their promises.
func TestRewriteCommands(t *testing.T) {
	for name, text := range map[string]string{"crlf it": "#!/bin/sh\r\necho hi\r\n", "bom": "\xef\xbb\xbf#!/bin/sh\necho hi\n"} {
		r := newRunner(t, Options{})
		broken := Spec{Path: script(t, name, text, 0o755), Timeout: time.Minute}
		e := r.Run(t.Context(), broken)
		if e.Err == nil {
			t.Fatalf("%s: got %+v, want an error", name, e)
		}
		_, command, _ := strings.Cut(e.Err.Error(), "type: ")
		if fixed := r.Run(t.Context(), shell(t, command)); fixed.Code != 0 {
			t.Fatalf("%s: got %+v from %s", name, fixed, command)
		}
		if e = r.Run(t.Context(), broken); e.Err != nil || all(e.Stdout) != "hi\n" {
			t.Errorf("%s: got %+v, want it cured by %s", name, e, command)
		}
	}
}

func TestBusyFile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("ETXTBSY is Linux's habit")
	}
	path := script(t, "busy", "#!/bin/sh\necho ran\n", 0o755)
	hold := func() *os.File {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := hold()
	if _, err := syscall.ForkExec(path, nil, &syscall.ProcAttr{}); err != unix.ETXTBSY {
		f.Close()
		t.Skipf("this kernel runs files that are open for writing (%v)", err)
	}
	t.Run("released", func(t *testing.T) {
		r := newRunner(t, Options{})
		var waits []time.Duration
		r.pause = func(_ context.Context, d time.Duration) bool {
			if waits = append(waits, d); len(waits) == 3 {
				f.Close()
			}
			return true
		}
		e := r.Run(t.Context(), Spec{Path: path, Timeout: time.Minute})
		want := []time.Duration{2 * time.Millisecond, 4 * time.Millisecond, 8 * time.Millisecond}
		if e.Err != nil || all(e.Stdout) != "ran\n" || !slices.Equal(waits[:min(3, len(waits))], want) {
			t.Errorf("got %+v after %v, want it to run after %v", e, waits, want)
		}
	})
	t.Run("held", func(t *testing.T) {
		f := hold()
		defer f.Close()
		e := newRunner(t, Options{Cgroup: false}).Run(t.Context(), Spec{Path: path, Timeout: time.Minute})
		if !errors.Is(e.Err, unix.ETXTBSY) || !strings.Contains(e.Err.Error(), "open for writing") || !strings.Contains(e.Err.Error(), "fuser -v "+path) {
			t.Errorf("got %v, want it named busy", e.Err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		f := hold()
		defer f.Close()
		ctx, cancel := context.WithCancel(t.Context())
		r := newRunner(t, Options{})
		tries := 0
		r.pause = func(ctx context.Context, d time.Duration) bool {
			tries++
			cancel()
			return pause.For(time.Hour, ctx.Done())
		}
		if e := r.Run(ctx, Spec{Path: path, Timeout: time.Minute}); e.Err == nil || tries != 1 {
			t.Errorf("got %+v after %d tries, want it to give up", e, tries)
		}
	})
}

func TestInterpreter(t *testing.T) {
	for line, want := range map[string]string{
		"#!/bin/sh": "/bin/sh", "#! \t/bin/sh -e": "/bin/sh", "#!/bin/sh\r": "/bin/sh\r", "#!/usr/bin/env python3": "/usr/bin/env",
		"#!": "", "#!   ": "", "": "", "echo": "", "# !/bin/sh": "",
	} {
		if got, ok := interpreter([]byte(line)); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", line, got, ok, want)
		}
	}
}

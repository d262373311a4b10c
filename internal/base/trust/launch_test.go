package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

var farOff = time.Unix(1_000_000_000, 0)

// Whatever starts a file, it is a part of the hook: as an argument, in one,
// behind a = or an option, in a #! line, in shell text, in PATH.
func TestParts(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		hooktest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		hooktest.Must(t, os.WriteFile(path, []byte(text), 0o700))
		return path
	}
	guard, lib := write("guard.sh", "#!/bin/sh -eu\n"), write("lib/rc", "")
	tool, other := write("bin/mytool", "#!/bin/sh\n"), write("bin/other", "\x7fELF")
	env := write("env.sh", "#!/usr/bin/env -S A=b mytool -x guard.sh\n")
	nested := write("nested", "#!"+env+"\n")
	hooktest.Must(t, os.Mkdir(filepath.Join(dir, "data"), 0o777))
	entry, makefile, source := write("app/__main__.py", ""), write("app/Makefile", ""), write("app/x_linux.go", "")
	module := write("lib/check.js", "")
	write("app/notes.txt", "")
	shadow, pkg, native := write("mods/json.py", ""), write("mods/pkg/__init__.py", ""), write("mods/libc.so.6", "")
	write("mods/state.db", "")
	write("shared/main.go", "")
	hooktest.Must(t, os.Chmod(filepath.Join(dir, "shared"), 0o777|fs.ModeSticky))
	for _, tt := range []struct {
		name  string
		l     Launch
		parts []string
	}{
		{"nothing", Launch{}, nil},
		{"script", Launch{Program: guard}, []string{guard, "/bin/sh"}},
		{"bash-e", Launch{Program: "/bin/sh", Args: []string{"-e", "guard.sh"}}, []string{"/bin/sh", guard}},
		{"bash-m", Launch{Program: "/bin/sh", Args: []string{"-m", "guard.sh"}}, []string{"/bin/sh", guard}},
		{"rcfile", Launch{Program: "/bin/sh", Args: []string{"--rcfile", "lib/rc", "./guard.sh"}}, []string{"/bin/sh", lib, guard}},
		{"rcfile-joined", Launch{Program: "/bin/sh", Args: []string{"--rcfile=lib/rc"}}, []string{"/bin/sh", lib}},
		{"option-joined", Launch{Program: "/usr/bin/awk", Args: []string{"-fguard.sh"}}, []string{"/usr/bin/awk", guard}},
		{"list", Launch{Program: "/bin/sh", Args: []string{"--load=lib/rc,guard.sh"}}, []string{"/bin/sh", lib, guard}},
		{"env-S", Launch{Program: "/usr/bin/env", Args: []string{"-S", "mytool ./guard.sh"}}, []string{"/usr/bin/env", tool, guard, "/bin/sh"}},
		{"env", Launch{Program: "/usr/bin/env", Args: []string{"X=lib/rc", "mytool"}}, []string{"/usr/bin/env", lib, tool, "/bin/sh"}},
		{"xargs", Launch{Program: "/usr/bin/xargs", Args: []string{"-n1", "mytool"}}, []string{"/usr/bin/xargs", tool, "/bin/sh"}},
		{"stdbuf", Launch{Program: "/usr/bin/stdbuf", Args: []string{"-oL", "./guard.sh"}}, []string{"/usr/bin/stdbuf", guard, "/bin/sh"}},
		{"unknown-interpreter", Launch{Program: other, Args: []string{"guard.sh"}}, []string{other, guard, "/bin/sh"}},
		{"text", Launch{Program: "/bin/sh", Args: []string{"-c", ". ./lib/rc; exec ./guard.sh"}}, []string{"/bin/sh", lib, guard}},
		{"text-in-text", Launch{Program: "/bin/sh", Args: []string{"-c", `sh -c "sh -c './guard.sh'"`}}, []string{"/bin/sh", guard}},
		{"shebang-words", Launch{Program: env}, []string{env, "/usr/bin/env", tool, guard, "/bin/sh"}},
		{"shebang-chain", Launch{Program: nested}, []string{nested, env, "/usr/bin/env", tool, guard, "/bin/sh"}},
		{"directory", Launch{Program: "/bin/ls", Args: []string{"data", "--x=shared"}}, []string{"/bin/ls"}},
		{"directory-that-runs", Launch{Program: other, Args: []string{"app"}}, []string{other, entry, makefile, source}},
		{"directory-of-make", Launch{Program: other, Args: []string{"-Capp"}}, []string{other, entry, makefile, source}},
		{"directory-in-text", Launch{Program: "/bin/sh", Script: "cd app && make"}, []string{"/bin/sh", entry, makefile, source}},
		{"module", Launch{Program: other, Args: []string{"lib/check"}}, []string{other, module}},
		{"device", Launch{Program: "/bin/cat", Args: []string{"/dev/null"}}, []string{"/bin/cat"}},
		{"shell-text", Launch{Program: "/bin/sh", Script: "mytool | (cd x && 'guard.sh' --a) >lib/rc 2>&1"}, []string{"/bin/sh", tool, guard}},
		{"shell-input", Launch{Program: "/bin/sh", Script: "sh -s <lib/rc"}, []string{"/bin/sh", lib}},
		{"shell-home", Launch{Program: "/bin/sh", Script: ". ~/rc", Home: filepath.Join(dir, "lib")}, []string{"/bin/sh", lib}},
		{"preload", Launch{Program: "/bin/sh", Env: []string{"BASH_ENV=./lib/rc"}}, []string{"/bin/sh", lib}},
		{"preload-option", Launch{Program: "/bin/sh", Env: []string{"NODE_OPTIONS=--require ./lib/check"}}, []string{"/bin/sh", module}},
		{"preload-joined", Launch{Program: "/bin/sh", Env: []string{"PERL5OPT=-Ilib -Mx=guard.sh"}}, []string{"/bin/sh", module, guard}},
		{"search-path", Launch{Program: "/bin/sh", Env: []string{"PYTHONPATH=nowhere:mods", "LD_LIBRARY_PATH=mods"}},
			[]string{"/bin/sh", shadow, pkg, native}},
		{"what-it-writes", Launch{Program: "/bin/sh", Env: []string{"LOG=lib/rc", "OUTPUT_PATH=guard.sh"}}, []string{"/bin/sh"}},
		{"class-path", Launch{Program: other, Args: []string{"-cp", "nowhere:mods"}}, []string{other, shadow, pkg, native}},
		{"url", Launch{Program: other, Args: []string{"--import", "file://" + guard}}, []string{other, guard, "/bin/sh"}},
		{"url-in-option", Launch{Program: other, Args: []string{"--import=file://" + guard}}, []string{other, guard, "/bin/sh"}},
		{"at", Launch{Program: other, Args: []string{"@guard.sh"}}, []string{other, guard, "/bin/sh"}},
		{"at-in-option", Launch{Program: other, Args: []string{"--data=x=@lib/rc", "-d@guard.sh"}}, []string{other, lib, guard, "/bin/sh"}},
		{"agent", Launch{Program: other, Args: []string{"-javaagent:lib/rc=x"}}, []string{other, lib}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.l.Dir, tt.l.Path = dir, filepath.Join(dir, "bin")
			f := New().Add(Files{}, tt.l)
			got := slices.Concat(f.Run, f.Read)
			for _, part := range tt.parts {
				if !slices.Contains(got, part) {
					t.Errorf("%s is no part of %q", part, got)
				}
			}
			for _, part := range got {
				if !slices.Contains(tt.parts, part) && part != "/bin/sh" {
					t.Errorf("%s is a part", part)
				}
				if own := slices.Contains(f.Own, part); own != strings.HasPrefix(part, dir) {
					t.Errorf("%s is the hook's own: %t", part, own)
				}
			}
			if len(f.Bad) > 0 {
				t.Errorf("refused: %v", f.Bad)
			}
		})
	}
}

// A name that becomes a file, in the directory of the run or before the file of
// that name in PATH, is a change of the hook.
func TestAppearing(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	hooktest.Must(t, os.Mkdir(first, 0o700))
	hooktest.Must(t, os.Mkdir(second, 0o700))
	hooktest.Must(t, os.WriteFile(filepath.Join(second, "mytool"), nil, 0o700))
	for _, name := range []string{"late.sh", "first/mytool", "lib/rc"} {
		c := New()
		f := c.Add(Files{}, Launch{
			Program: "/usr/bin/env", Args: []string{"mytool", "late.sh", "--rc=lib/rc"}, Dir: dir, Path: first + ":" + second,
		})
		s := c.Seal(f)
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		hooktest.Must(t, os.MkdirAll(filepath.Join(dir, "lib"), 0o700))
		hooktest.Must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o700))
		var changed *Changed
		if err := s.Check(); !errors.As(err, &changed) {
			t.Errorf("%s has come, and the check says %v", name, err)
		}
		if err := s.Check(); !errors.As(err, &changed) {
			t.Errorf("%s has come, and the second check says %v", name, err)
		}
	}
}

// Code that comes into a directory from which a hook loads it is a change of the hook;
// other files may come and go there.
func TestCodeAppearing(t *testing.T) {
	dir := t.TempDir()
	mods := filepath.Join(dir, "mods")
	hooktest.Must(t, os.Mkdir(mods, 0o700))
	c := New()
	s := c.Seal(c.Add(Files{}, Launch{Program: "/bin/sh", Dir: dir, Env: []string{"PYTHONPATH=mods"}}))
	hooktest.Must(t, os.WriteFile(filepath.Join(mods, "state.db"), nil, 0o600))
	for range 2 {
		if err := s.Check(); err != nil {
			t.Errorf("a file that is no code has come, and the check says %v", err)
		}
	}
	hooktest.Must(t, os.WriteFile(filepath.Join(mods, "json.py"), nil, 0o600))
	var changed *Changed
	if err := s.Check(); !errors.As(err, &changed) {
		t.Errorf("json.py has come, and the check says %v", err)
	}
}

func TestRelativeInterpreters(t *testing.T) {
	dir := t.TempDir()
	for _, line := range []string{"#!./x", "#!x", "#! bin/sh -e", "#!\t../sh"} {
		script := filepath.Join(dir, "run.sh")
		hooktest.Must(t, os.WriteFile(script, []byte(line+"\n"), 0o700))
		c := New()
		for _, l := range []Launch{{Program: script}, {Program: "/usr/bin/env", Args: []string{"./run.sh"}, Dir: dir}} {
			if bad := c.Seal(c.Add(Files{}, l)).Refusals(); len(bad) != 1 || !strings.Contains(bad[0].Fact, "interpreter") {
				t.Errorf("%s: refusals %v", line, bad)
			}
		}
	}
	for path, want := range map[string]string{"": "", ":/bin": "/bin", "/bin:": "/bin", "/bin::/usr/bin": "/bin:/usr/bin", ".:/bin:x": "/bin"} {
		if got := CleanPath(path); got != want {
			t.Errorf("CleanPath(%q) = %q, want %q", path, got, want)
		}
	}
}

// A folder in which another user could put a program is none to look programs up in,
// be it there or still to be created.
func TestSafePath(t *testing.T) {
	dir := t.TempDir()
	own, open, sticky := filepath.Join(dir, "own"), filepath.Join(dir, "open"), filepath.Join(dir, "sticky")
	for path, mode := range map[string]fs.FileMode{own: 0o755, open: 0o777, sticky: 0o777 | fs.ModeSticky} {
		hooktest.Must(t, os.Mkdir(path, 0o700))
		hooktest.Must(t, os.Chmod(path, mode))
	}
	link := filepath.Join(own, "link")
	hooktest.Must(t, os.Symlink(open, link))
	hooktest.Must(t, os.Mkdir(filepath.Join(open, "below"), 0o755))
	later := filepath.Join(own, "later")
	bad := []string{open, sticky, link, filepath.Join(open, "below"), filepath.Join(open, "later"), filepath.Join(sticky, "later")}
	path := strings.Join(slices.Concat([]string{"", own}, bad, []string{later, "relative", "/usr/bin"}), ":")
	safe, left := SafePath(path)
	if want := own + ":" + later + ":/usr/bin"; safe != want {
		t.Errorf("got %s, want %s", safe, want)
	}
	if len(left) != len(bad) {
		t.Errorf("left out: %v", left)
	}
	for _, dir := range bad { // a hook's own PATH
		if s := New().Seal(Files{Search: []string{"/usr/bin", dir}}); len(s.Refusals()) == 0 {
			t.Errorf("%s is searched for programs", dir)
		}
	}
	s := New().Seal(Files{Search: []string{own, later, "/usr/bin"}})
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	hooktest.Must(t, os.Chmod(own, 0o777))
	if err := s.Check(); err == nil {
		t.Error("a folder of PATH is open to all, and the check passes")
	}
}

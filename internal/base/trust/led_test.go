package trust

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// person returns a folder of a user who is not root, and the checker of that user.
func person(t *testing.T) (c *Checker, home string) {
	if os.Getuid() != 0 {
		return New(), newTree(t).home
	}
	tr := newTree(t)
	tr.chown(tr.home, otherUser, otherUser)
	return newChecker(otherUser, "/etc/passwd", "/etc/group"), tr.home
}

// link puts a link of the user's in the place of whatever is at path.
func link(t *testing.T, target, path string) {
	t.Helper()
	hooktest.Must(t, os.RemoveAll(path))
	hooktest.Must(t, os.Symlink(target, path))
	if os.Getuid() == 0 {
		hooktest.Must(t, os.Lchown(path, otherUser, otherUser))
	}
}

// A link of the user's to a program of the system is a part of the hook: where it leads counts.
// An upgrade of that program does not.
func TestALinkToAProgramOfTheSystem(t *testing.T) {
	for name, of := range map[string]func(tool string) Launch{
		"command": func(tool string) Launch { return Launch{Program: tool} },
		"interpreter": func(tool string) Launch {
			run := filepath.Join(filepath.Dir(tool), "run.sh")
			hooktest.Must(t, os.WriteFile(run, []byte("#!"+tool+"\n"), 0o755))
			return Launch{Program: run}
		},
		"word": func(string) Launch { return Launch{Program: "/bin/sh", Script: "tool --check"} },
	} {
		t.Run(name, func(t *testing.T) {
			c, home := person(t)
			tool := filepath.Join(home, "tool")
			l := of(tool)
			l.Dir, l.Path = "/", home+":/bin"
			link(t, "/bin/sh", tool)
			seal := func() *Seal { return c.Seal(c.Add(Files{Contents: true}, l)) }
			allowed := seal()
			if err := allowed.Check(); err != nil {
				t.Fatal(err)
			}
			if to := allowed.Contents()[tool]; to != LinkTo+"/bin/sh" {
				t.Errorf("the link counts as %q", to)
			}
			link(t, "/bin/true", tool)
			var changed *Changed
			if err := allowed.Check(); !errors.As(err, &changed) {
				t.Errorf("it leads to /bin/true, and the check says %v", err)
			}
			if to := seal().Contents()[tool]; to != LinkTo+"/bin/true" {
				t.Errorf("the other link counts as %q", to)
			}
		})
	}
}

// A file that takes the place of anything else that a word named is a change of the hook.
func TestAFileInThePlaceOfAnother(t *testing.T) {
	tool := func(place string) Launch {
		return Launch{Program: "/bin/sh", Script: "tool", Path: filepath.Dir(place) + ":/bin"}
	}
	source := func(string) Launch { return Launch{Program: "/bin/sh", Script: ". ./tool"} }
	for name, tt := range map[string]struct {
		was func(t *testing.T, place string) error
		l   func(place string) Launch
	}{
		"folder":               {func(_ *testing.T, place string) error { return os.Mkdir(place, 0o755) }, source},
		"system folder":        {func(t *testing.T, place string) error { link(t, "/usr/bin", place); return nil }, source},
		"sticky folder":        {func(t *testing.T, place string) error { link(t, "/tmp", place); return nil }, source},
		"pipe":                 {func(_ *testing.T, place string) error { return syscall.Mkfifo(place, 0o600) }, source},
		"link to itself":       {func(t *testing.T, place string) error { link(t, place, place); return nil }, source},
		"folder, as a program": {func(_ *testing.T, place string) error { return os.Mkdir(place, 0o755) }, tool},
		"no program":           {func(_ *testing.T, place string) error { return os.WriteFile(place, nil, 0o644) }, tool},
		"nothing, in a link to a system folder": {func(t *testing.T, place string) error {
			link(t, "/usr/bin", filepath.Dir(place))
			return nil
		}, tool},
		"nothing, below a file": {func(_ *testing.T, place string) error {
			return errors.Join(os.Remove(filepath.Dir(place)), os.WriteFile(filepath.Dir(place), nil, 0o644))
		}, source},
	} {
		t.Run(name, func(t *testing.T) {
			c, home := person(t)
			dir := filepath.Join(home, "bin")
			place := filepath.Join(dir, "tool")
			hooktest.Must(t, os.Mkdir(dir, 0o755))
			hooktest.Must(t, tt.was(t, place))
			l := tt.l(place)
			l.Dir = dir
			if strings.Contains(l.Script, "./") {
				l.Script, l.Dir = strings.Replace(l.Script, "./", "./bin/", 1), home
			}
			s := c.Seal(c.Add(Files{Contents: true}, l))
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
			hooktest.Must(t, os.RemoveAll(dir))
			hooktest.Write(t, place, "#!/bin/true\n", 0o755)
			var changed *Changed
			if err := s.Check(); !errors.As(err, &changed) {
				t.Errorf("there is a file now, and the check says %v", err)
			}
		})
	}
}

// The parts of a hook are those of the version whose content is sealed.
func TestPartsOfAnotherVersion(t *testing.T) {
	c, home := person(t)
	run, other, first := filepath.Join(home, "run.sh"), filepath.Join(home, "other"), filepath.Join(home, "first")
	hooktest.Must(t, os.Mkdir(first, 0o755))
	hooktest.Write(t, run, "#!/usr/bin/env true\n", 0o755)
	hooktest.Write(t, other, "#!/usr/bin/env sh\n", 0o755)
	link(t, "/usr/bin/env", filepath.Join(home, "env"))
	exchange := func() {
		hooktest.Must(t, errors.Join(os.Rename(run, run+".x"), os.Rename(other, run), os.Rename(run+".x", other)))
	}
	l := Launch{Program: run, Dir: home, Path: first + ":/bin:/usr/bin"}
	exchange()
	files := c.Add(Files{Contents: true}, l)
	exchange()
	s := c.Seal(files)
	if len(s.Refusals()) == 0 {
		t.Error("the parts of one version are sealed with the content of another")
	}
	var changed *Changed
	if err := s.Check(); !errors.As(err, &changed) {
		t.Errorf("the check says %v", err)
	}
	if s = c.Seal(c.Add(Files{Contents: true}, l)); len(s.Refusals()) > 0 || s.Check() != nil {
		t.Errorf("one version is refused: %v", s.Refusals())
	}

	program := Launch{Program: filepath.Join(home, "env"), Dir: home}
	files = c.Add(Files{Contents: true}, program)
	link(t, "/usr/bin/env", filepath.Join(home, "env"))
	if s = c.Seal(files); len(s.Refusals()) > 0 {
		t.Errorf("a link that leads where it led is refused: %v", s.Refusals())
	}
}

// A program that was one of the system when the parts were found must be one when it is sealed.
func TestAProgramOfTheSystemNoMore(t *testing.T) {
	c, home := person(t)
	bin := filepath.Join(home, "bin")
	for name, now := range map[string]func(){
		"a link":   func() { link(t, "/usr/bin", bin) },
		"a folder": func() { hooktest.Write(t, filepath.Join(bin, "env"), "#!/bin/true\n", 0o755) },
		"nothing":  func() {},
	} {
		f := Files{Run: []string{filepath.Join(bin, "env")}, installed: []string{filepath.Join(bin, "env")}, Contents: true}
		hooktest.Must(t, os.RemoveAll(bin))
		now()
		if len(c.Seal(f).Refusals()) == 0 {
			t.Errorf("%s of the user's counts as root's", name)
		}
	}
}

// A program that cannot be read is refused where its content counts: another one could take
// its place.
func TestAnUnreadableProgram(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads every file")
	}
	tr := newTree(t)
	tr.chmod(tr.run, 0o111)
	files := tr.files()
	if bad := New().Seal(files).Refusals(); len(bad) > 0 {
		t.Errorf("refused, although its content does not count: %v", bad)
	}
	files.Contents = true
	s := New().Seal(files)
	var refusal *Refusal
	if err := s.Check(); !errors.As(err, &refusal) {
		t.Errorf("the check says %v", err)
	}
	tr.chmod(tr.run, 0o755)
	if err := New().Seal(files).Check(); err != nil {
		t.Error(err)
	}
}

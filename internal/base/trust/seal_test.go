package trust

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// A seal notices whatever makes another hook of the files, also a change that keeps
// size and time, and nothing else.
func TestSealNotices(t *testing.T) {
	for _, tt := range []struct {
		name    string
		do      func(*tree)
		changed bool
	}{
		{"nothing", func(*tree) {}, false},
		{"a-file-beside", func(tr *tree) { hooktest.Must(tr.T, os.WriteFile(filepath.Join(tr.folder, "log"), []byte("x"), 0o600)) }, false},
		{"a-tighter-folder", func(tr *tree) { tr.chmod(tr.folder, 0o700) }, false},
		{"a-hard-link", func(tr *tree) { hooktest.Must(tr.T, os.Link(tr.run, filepath.Join(tr.base, "backup"))) }, false},
		{"the-definition", func(tr *tree) { hooktest.Must(tr.T, os.WriteFile(tr.yaml, []byte("name: other\n"), 0o644)) }, false},
		{"written", func(tr *tree) { hooktest.Must(tr.T, os.WriteFile(tr.run, []byte("#!/bin/sh\necho x\n"), 0o755)) }, true},
		{"mode", func(tr *tree) { tr.chmod(tr.run, 0o700) }, true},
		{"touched", func(tr *tree) { hooktest.Must(tr.T, os.Chtimes(tr.run, farOff, farOff)) }, true},
		{"swapped-with-the-same-size-and-time", func(tr *tree) {
			info, err := os.Stat(tr.run)
			hooktest.Must(tr.T, err)
			other := filepath.Join(tr.base, "other")
			hooktest.Must(tr.T, os.WriteFile(other, []byte("#!/bin/ls\n"), 0o755))
			hooktest.Must(tr.T, os.Chtimes(other, info.ModTime(), info.ModTime()))
			hooktest.Must(tr.T, os.Rename(other, tr.run))
		}, true},
		{"removed", func(tr *tree) { hooktest.Must(tr.T, os.Remove(tr.run)) }, true},
		{"a-link-in-its-place", func(tr *tree) { hooktest.Must(tr.T, os.Symlink(tr.move(tr.run), tr.run)) }, false}, // to the same file
		{"another-folder-in-its-place", func(tr *tree) {
			hooktest.Must(tr.T, os.Rename(tr.folder, tr.folder+".old"))
			hooktest.Must(tr.T, os.MkdirAll(tr.folder, 0o755))
			hooktest.Must(tr.T, os.WriteFile(tr.run, []byte("#!/bin/sh\n"), 0o755))
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "mode" && os.Getuid() != 0 {
				hooktest.NeedRoot(t)
			}
			tr := newTree(t)
			s := tr.seal()
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
			tt.do(tr)
			var changed *Changed
			if err := s.Check(); errors.As(err, &changed) != tt.changed || !tt.changed && err != nil {
				t.Fatalf("got %v, want a change: %t", err, tt.changed)
			}
			if tt.changed && (changed.Refusal != nil || !strings.Contains(changed.Error(), "type `hookd reload`")) {
				t.Errorf("got %v, want another file and no refusal", changed)
			}
			if err := s.Check(); (err != nil) != tt.changed {
				t.Errorf("a second look says %v", err)
			}
			if same := tr.seal().Same(s); same == tt.changed {
				t.Errorf("a new seal is the same: %t", same)
			}
		})
	}
}

// A path that is let in again must be read again; a refused path stays refused.
func TestSealAndRefusals(t *testing.T) {
	tr := newTree(t)
	s := tr.seal()
	tr.chmod(tr.home, 0o777)
	var changed *Changed
	if err := s.Check(); !errors.As(err, &changed) || changed.Refusal == nil || changed.Refusal.Path != tr.home {
		t.Fatalf("got %v, want a refusal of %s", err, tr.home)
	}
	refused := tr.seal()
	var r *Refusal
	if err := refused.Check(); !errors.As(err, &r) || errors.As(err, &changed) && err == error(changed) {
		t.Errorf("got %v, want the refusal as sealed", err)
	}
	if refused.Same(s) {
		t.Error("a refused seal is the same as one that was not")
	}
	tr.chmod(tr.home, 0o755)
	if err := refused.Check(); !errors.As(err, &changed) || changed.Refusal != nil {
		t.Errorf("got %v, want a change that asks for a new seal", err)
	}
	if err := s.Check(); err != nil {
		t.Errorf("the first seal says %v of what is as it was", err)
	}
	if err := tr.seal().With(Refusal{Path: "/x", Fact: "waits", Do: "hookd allow x"}).Check(); err == nil || !strings.Contains(err.Error(), "hookd allow x") {
		t.Errorf("got %v, want the added refusal", err)
	}
	if err := (*Seal)(nil).Check(); err != nil {
		t.Errorf("nothing to check: %v", err)
	}
}

// Programs that come with the system may be upgraded under a running hookd.
func TestSystemProgramsMayChange(t *testing.T) {
	hooktest.NeedRoot(t)
	tr := newTree(t)
	s := newChecker(otherUser, "/etc/passwd", "/etc/group").Seal(tr.files())
	hooktest.Must(t, os.WriteFile(tr.run, []byte("#!/bin/sh\necho upgraded\n"), 0o755))
	if err := s.Check(); err != nil {
		t.Errorf("root's program was upgraded: %v", err)
	}
	tr.chown(tr.run, otherUser, 0)
	var changed *Changed
	if err := s.Check(); !errors.As(err, &changed) {
		t.Errorf("got %v, want a change: the program is the user's now", err)
	}
}

func TestContents(t *testing.T) {
	tr := newTree(t)
	s := tr.seal()
	a := s.Contents()
	if len(a) != 1 || len(a[tr.run]) != 64 {
		t.Fatalf("contents %v, want one sum", a)
	}
	hooktest.Must(t, os.Chtimes(tr.run, farOff, farOff))
	if b := s.Contents(); b[tr.run] != a[tr.run] {
		t.Error("touching a file changes the sum of its content")
	}
	hooktest.Must(t, os.Remove(tr.run))
	if b := s.Contents(); b[tr.run] != "" {
		t.Error("a missing file has a sum")
	}
}

func BenchmarkCheck(b *testing.B) {
	dir, err := os.MkdirTemp("/tmp", "trust")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	folder := filepath.Join(dir, "home", ".librefang", "hooks", "guard")
	yaml, run := filepath.Join(folder, "HOOK.yaml"), filepath.Join(folder, "run.sh")
	if err := errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(yaml, nil, 0o644), os.WriteFile(run, []byte("#!/bin/sh\n"), 0o755)); err != nil {
		b.Fatal(err)
	}
	c := New()
	files := c.Add(Files{Folder: folder, Read: []string{yaml}}, Launch{Program: run, Dir: folder})
	b.Run("seal", func(b *testing.B) {
		for b.Loop() {
			c.Seal(files)
		}
	})
	s := c.Seal(files)
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			if err := s.Check(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("again", func(b *testing.B) {
		first, err := s.Look(func(string) {})
		hooktest.Must(b, err)
		for b.Loop() {
			if err := first.Again(func(string) {}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

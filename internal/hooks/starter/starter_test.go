package starter

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/discovery/catalog"
)

func stateIn(t *testing.T, dir, name string) Offer {
	t.Helper()
	list, err := Hooks(dir, os.Getenv("PATH"))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(h Offer) bool { return h.Name == name })
	if i < 0 {
		t.Fatalf("%s is not offered", name)
	}
	return list[i]
}

// Every hook that is offered is taken as it is put there, and goes again.
func TestAddAndRemove(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "hooks")
	for _, name := range Offered {
		if h := stateIn(t, dir, name); h.State != Absent || h.About == "" || strings.HasSuffix(h.About, ".") {
			t.Errorf("before: got %+v", h)
		}
		if err := Add(dir, name); err != nil {
			t.Fatal(err)
		}
		if h := stateIn(t, dir, name); h.State != There {
			t.Errorf("after: got %+v", h)
		}
		if err := Add(dir, name); !errors.Is(err, fs.ErrExist) {
			t.Errorf("again: got %v", err)
		}
	}
	v, err := catalog.Validate(config.Default(home), nil, true)
	if err != nil || len(v.Hooks) != len(Offered) {
		t.Fatalf("got %+v, %v", v, err)
	}
	for _, h := range v.Hooks {
		if len(h.Problems) > 0 {
			t.Errorf("%s: %v", h.Name, h.Problems)
		}
	}
	for _, name := range Offered {
		if r, err := Remove(dir, name); err != nil || r != (Removed{}) {
			t.Errorf("%s: got %+v, %v", name, r, err)
		}
		if r, err := Remove(dir, name); err != nil || r != (Removed{}) {
			t.Errorf("%s again: got %+v, %v", name, r, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// A hook that a user has changed stays, and so do the files that a hook has written.
func TestRemoveKeeps(t *testing.T) {
	dir := t.TempDir()
	for _, name := range Offered {
		hooktest.Must(t, Add(dir, name))
	}
	rules := filepath.Join(dir, "command-guard", "HOOK.yaml")
	hooktest.Write(t, rules, "name: command-guard\n", 0o644)
	if r, err := Remove(dir, "command-guard"); err != nil || r.Kept != filepath.Join(dir, "command-guard") {
		t.Errorf("changed: got %+v, %v", r, err)
	}
	if text, err := os.ReadFile(rules); err != nil || string(text) != "name: command-guard\n" {
		t.Errorf("got %q, %v", text, err)
	}
	hooktest.Must(t, os.Remove(filepath.Join(dir, "secret-guard", "HOOK.yaml")))
	if h := stateIn(t, dir, "secret-guard"); h.State != Changed {
		t.Errorf("without a file: got %+v", h)
	}
	hooktest.Write(t, filepath.Join(dir, "self-guard", "audit.jsonl"), "{}\n", 0o600)
	r, err := Remove(dir, "self-guard")
	if err != nil || r.Left != filepath.Join(dir, "self-guard.disabled") {
		t.Fatalf("got %+v, %v", r, err)
	}
	if left, err := os.ReadDir(r.Left); err != nil || len(left) != 1 || left[0].Name() != "audit.jsonl" {
		t.Errorf("%v is left, %v", left, err)
	}
	hooktest.Must(t, os.RemoveAll(filepath.Join(dir, "command-guard")))
	hooktest.Must(t, Add(dir, "command-guard"))
	mine := filepath.Join("rules", "mine.yaml")
	hooktest.Write(t, filepath.Join(dir, "command-guard", mine), "- deny: rm\n", 0o600)
	r, err = Remove(dir, "command-guard")
	if left, _ := filepath.Glob(filepath.Join(r.Left, "*", "*")); err != nil || len(left) != 1 || left[0] != filepath.Join(r.Left, mine) {
		t.Errorf("%v is left beside %+v, %v", left, r, err)
	}
	hooktest.Must(t, Add(dir, "self-guard"))
	if _, err := Remove(dir, "self-guard"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over what is left: got %v", err)
	}
	if h := stateIn(t, dir, "self-guard"); h.State != There {
		t.Errorf("got %+v", h)
	}
}

// A file or a link in the place of a hook's folder is the user's.
func TestPlacesThatAreTaken(t *testing.T) {
	dir := t.TempDir()
	hooktest.Write(t, filepath.Join(dir, "command-guard"), "mine", 0o644)
	hooktest.Must(t, os.Symlink("/nowhere", filepath.Join(dir, "self-guard")))
	for _, name := range []string{"command-guard", "self-guard"} {
		if h := stateIn(t, dir, name); h.State != Changed {
			t.Errorf("got %+v", h)
		}
		if err := Add(dir, name); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: got %v", name, err)
		}
		if r, err := Remove(dir, name); err != nil || r.Kept == "" {
			t.Errorf("%s: got %+v, %v", name, r, err)
		}
	}
}

// The hooks that are offered need no program: a guard must work on a machine without Python.
func TestLacksNothing(t *testing.T) {
	list, err := Hooks(t.TempDir(), "relative:"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range list {
		if len(h.Lacks) > 0 {
			t.Errorf("%s lacks %v", h.Name, h.Lacks)
		}
	}
}

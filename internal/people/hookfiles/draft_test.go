package hookfiles_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/people/hookfiles"
	"github.com/hookd/hookd/internal/people/ui"
)

// A draft is saved whole or not at all: not over a text that another one wrote, not where it cannot be read, and with
// a failing test only for a reason, which is kept with the version.
func TestSave(t *testing.T) {
	home := t.TempDir()
	dir := hooktest.Hook(t, home, "guard", "events: PreToolUse\ntests:\n  - {name: all pass, data: {command: ls}, expect: none}\n", "exit 0\n")
	files := filesOf(home)
	was, err := files.Texts("guard")
	hooktest.Must(t, err)
	denies := map[string]string{"run.sh": "#!/bin/sh\nexit 2\n"}
	save := func(d ui.Draft) string {
		t.Helper()
		if err := files.Save(t.Context(), "guard", d); err != nil {
			return err.Error()
		}
		return ""
	}
	for _, c := range []struct {
		name, want string
		draft      ui.Draft
	}{
		{"stale", ui.ErrChanged.Error(), ui.Draft{Texts: denies, Was: map[string]string{"run.sh": "#!/bin/sh\n"}}},
		{"unreadable", "HOOK.yaml:1", ui.Draft{Texts: map[string]string{"HOOK.yaml": "evnts: x\n"}, Was: was}},
		{"outside", `no file "../other"`, ui.Draft{Texts: map[string]string{"../other": "x"}, Was: was}},
		{"failing", "1 of 1 tests fail", ui.Draft{Texts: denies, Was: was}},
	} {
		if got := save(c.draft); !strings.Contains(got, c.want) {
			t.Errorf("%s: saved with %q, want %q", c.name, got, c.want)
		}
	}
	if got := save(ui.Draft{Texts: denies, Was: was, Reason: "all calls\nstop for now"}); got != "" {
		t.Fatal(got)
	}
	info, err := os.Stat(filepath.Join(dir, "run.sh"))
	hooktest.Must(t, err)
	if info.Mode().Perm()&0o100 == 0 {
		t.Error("the script cannot be run any more")
	}
	was["run.sh"] = denies["run.sh"]
	if got := save(ui.Draft{Texts: map[string]string{"run.sh": "#!/bin/sh\nexit 0\n"}, Was: was}); got != "" {
		t.Fatal(got)
	}
	list, err := files.Versions("guard")
	hooktest.Must(t, err)
	versions := list.([]hookfiles.Version)
	if len(versions) != 2 || len(versions[0].Diffs) != 1 || !strings.Contains(versions[1].By, "1 failing tests: all calls stop for now") {
		t.Errorf("the versions are %+v", versions)
	}
	if _, err := files.Check(t.Context(), "guard", denies); errors.Is(err, ui.ErrChanged) {
		t.Error(err)
	}
}

// A file that another process changes while a draft is tried is not allowed with it.
func TestSaveAllowsNoOtherFile(t *testing.T) {
	home := t.TempDir()
	dir := hooktest.Hook(t, home, "guard",
		"events: PreToolUse\nargs: [lib.sh]\ntests:\n  - {name: all pass, data: {command: ls}, expect: none}\n", "exit 0\n")
	lib := filepath.Join(dir, "lib.sh")
	hooktest.Write(t, lib, "level=1\n", 0o644)
	files := filesOf(home)
	was, err := files.Texts("guard")
	hooktest.Must(t, err)
	now := map[string]string{"run.sh": "#!/bin/sh\necho level=0 > '" + lib + "'\n"} // what it does as it is tried
	err = files.Save(t.Context(), "guard", ui.Draft{Texts: now, Was: was})
	if text, _ := os.ReadFile(lib); string(text) != "level=0\n" {
		t.Fatalf("the test has not run: %q, %v", text, err)
	}
	if !errors.Is(err, ui.ErrChanged) {
		t.Errorf("saved and allowed: %v", err)
	}
	for _, w := range files.Waiting() {
		if w.Hook == "guard" {
			return
		}
	}
	t.Error("the hook does not wait")
}

package hookfiles_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/people/hookfiles"
	"github.com/hookd/hookd/internal/people/ui"
)

func filesOf(home string) hookfiles.Files {
	return hookfiles.Files{Load: func() (config.Config, error) { return config.Load(home, nil, nil) }}
}

// A waiting version is shown line by line and allowed as shown; a version changed after that is not.
func TestExactlyWhatWasShownIsAllowed(t *testing.T) {
	home := t.TempDir()
	hooktest.Write(t, filepath.Join(home, "hookd.yaml"), "reload: {mode: ask}\n", 0o600)
	dir := hooktest.Hook(t, home, "guard", "events: PreToolUse\n", "exit 0\n")
	files := filesOf(home)
	first := files.Waiting()
	if len(first) != 1 || first[0].Hook != "guard" || !first[0].New {
		t.Fatalf("these wait: %+v", first)
	}
	hooktest.Must(t, files.Allow(first[0]))
	if left := files.Waiting(); len(left) != 0 {
		t.Errorf("after it was allowed these wait: %+v", left)
	}
	hooktest.Write(t, filepath.Join(dir, "run.sh"), "#!/bin/sh\nexit 2\n", 0o755)
	shown := files.Waiting()
	if len(shown) != 1 || len(shown[0].Diffs) != 1 || strings.Join(shown[0].Diffs[0].Lines, "\n") != " #!/bin/sh\n-exit 0\n+exit 2" {
		t.Fatalf("the difference is %+v", shown)
	}
	hooktest.Write(t, filepath.Join(dir, "run.sh"), "#!/bin/sh\nexit 3\n", 0o755)
	if err := files.Allow(shown[0]); err == nil || !strings.Contains(err.Error(), "has changed again") {
		t.Errorf("a version that was not shown is allowed: %v", err)
	}
}

// A hook is switched by its name. Neither a name that no hook has nor a hook of the policy can
// be switched off.
func TestSwitch(t *testing.T) {
	home := t.TempDir()
	hooktest.Hook(t, home, "guard", "events: PreToolUse\n", "exit 0\n")
	files := filesOf(home)
	state := func() hook.State {
		cfg, err := files.Load()
		hooktest.Must(t, err)
		return catalog.Scan(cfg).Entries[0].State
	}
	hooktest.Must(t, files.Switch("guard", false))
	if state() != hook.Disabled {
		t.Errorf("switched off it is %v", state())
	}
	hooktest.Must(t, files.Switch("guard", true))
	if state() != hook.Active {
		t.Errorf("switched on it is %v", state())
	}
	for name, want := range map[string]string{"gaurd": "no hook", "policy:guard": "of the policy"} {
		if err := files.Switch(name, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s can be switched off: %v", name, err)
		}
	}
}

// The texts of a hook can be edited, by its name or by its folder.
func TestTextsAreFound(t *testing.T) {
	home := t.TempDir()
	dir := hooktest.Hook(t, home, "guard", "events: PreToolUse\n", "exit 0\n")
	for _, name := range []string{"guard", dir} {
		texts, err := filesOf(home).Texts(name)
		if err != nil || !strings.Contains(texts["run.sh"], "exit 0") || texts["HOOK.yaml"] == "" {
			t.Errorf("%s has the texts %q, %v", name, texts, err)
		}
	}
	if _, err := filesOf(home).WhatIf(t.Context(), ui.Question{Hook: "guard", Since: "whenever"}, nil); err == nil {
		t.Error("a time that is none is taken")
	}
}

package attack

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/system"
	"github.com/hookd/hookd/internal/base/system/systemtest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	hooktest.RemovePrograms()
	os.Exit(code)
}

func TestAttempts(t *testing.T) {
	dir := hooktest.Programs(t)
	t.Setenv("HOME", hooktest.ShortDir(t)) // some attempts are on the hookd of the user, which is none here
	o := Options{Program: filepath.Join(dir, "hookd"), Bridge: filepath.Join(dir, "hookd-bridge")}
	t.Run("own", func(t *testing.T) { testOwn(t, o) })
	t.Run("system", func(t *testing.T) { testSystem(t, o) })
}

// The report on a user's own guards says only things that were seen.
func testOwn(t *testing.T, o Options) {
	if present, _ := system.Here().Look(); present {
		t.Skip("SKIP-TOOL machine without a system daemon: that one denies, too")
	}
	for mode, want := range map[string]map[string]bool{
		"auto": {
			"delete the guard's folder": true, "replace its program by a program that allows": true,
			"set HOOKD_SOCKET and LIBREFANG_HOME to nothing": false, "kill the daemon": true,
		},
		"ask": {
			"delete the guard's folder": false, "replace its program by a program that allows": false,
			"switch it off in HOOK.yaml": false, "point hooks_dir in hookd.yaml elsewhere": false,
			"delete hookd's approvals and start it again": true,
		},
	} {
		o.Mode = mode
		for _, a := range ownAttempts {
			worked, wanted := want[a.what]
			if !wanted {
				continue
			}
			r, err := o.tryOwn(t.Context(), a)
			if err != nil || !r.Tried || r.Worked != worked {
				t.Errorf("%s, %s: %+v, %v", mode, a.what, r, err)
			}
		}
	}
}

// Files that the user can write count as worked: here root's are the test's own.
func testSystem(t *testing.T, o Options) {
	p := systemtest.Place(t, "required: true\n")
	o.Mode = "auto"
	results := map[string]AttackResult{}
	for _, r := range o.trySystem(t.Context()) {
		results[r.What] = r
	}
	for _, what := range []string{"add or change its hooks", "replace its settings", "write its settings", "replace hookd"} {
		if r := results[what]; !r.Worked || !r.Tried {
			t.Errorf("%s in %s: %+v", what, p.Folder, r)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(p.Folder, "*", ".hookd-attack*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	for _, what := range []string{"kill it", "read its hooks, history and asks"} {
		if r := results[what]; r.Tried {
			t.Errorf("nothing listens: %+v", r)
		}
	}
}

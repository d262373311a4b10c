package service

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/system/systemtest"
)

// Installing the system daemon makes its user, folders, settings that users can read, and
// units, and starts it; uninstalling takes the units.
func TestInstallSystem(t *testing.T) {
	p := systemtest.Place(t, "")
	if err := os.RemoveAll(p.Folder); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var ran []string
	m := &Machine{goos: "linux", ofSystem: true, root: filepath.Dir(p.Folder), exe: exe, home: filepath.Dir(exe),
		run: func(_ context.Context, argv []string) (string, error) {
			line := strings.Join(argv, " ")
			if strings.Contains(line, "is-active") {
				return "", errors.New("inactive")
			}
			ran = append(ran, line)
			return "", nil
		}}
	for _, folder := range []string{"etc/systemd/system"} {
		if err := os.MkdirAll(filepath.Join(m.root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.LoadSystem(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := m.Install(Options{Config: c, Path: "/usr/bin:/bin"})
	if err != nil {
		t.Fatal(err)
	}
	if plan.manager.reachable(t.Context()) != nil {
		t.Skip("SKIP-TOOL systemctl: install writes nothing without it")
	}
	if err := plan.Install(t.Context(), func() int { return 0 }); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(ran, "\n")
	for _, want := range []string{"install -d -m 755 " + p.Folder, "systemctl enable hookd.socket hookd.service"} {
		if !strings.Contains(all, want) {
			t.Errorf("not run: %s; but\n%s", want, all)
		}
	}
	if strings.Contains(all, "--user ") {
		t.Errorf("the user's own service manager is told:\n%s", all)
	}
	info, err := os.Stat(p.Settings())
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("users cannot read the settings: %v, %v", info, err)
	}
	unit, err := os.ReadFile(filepath.Join(m.root, "etc/systemd/system/hookd.service"))
	if err != nil || !strings.Contains(string(unit), "\nUser=hookd\n") || !strings.Contains(string(unit), "serve --system") {
		t.Errorf("the unit is %s, %v", unit, err)
	}
	back, err := m.Uninstall()
	if err == nil {
		err = back.Uninstall(t.Context())
	}
	if err != nil || !strings.Contains(strings.Join(back.Notes, " "), p.Settings()) {
		t.Errorf("uninstalled: %v, %q", err, back.Notes)
	}
	if left, _ := filepath.Glob(filepath.Join(m.root, "etc/systemd/system/*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

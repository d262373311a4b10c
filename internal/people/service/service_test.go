package service

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/packaging"
)

// mac is a machine whose commands are noted and answered by fails.
func mac(t *testing.T, fails map[string]int) (*Machine, *[]string) {
	var asked []string
	return &Machine{goos: "darwin", home: t.TempDir(), uid: 501, run: func(_ context.Context, argv []string) (string, error) {
		line := strings.Join(argv, " ")
		asked = append(asked, line)
		if fails[line] > 0 {
			fails[line]--
			return "Input/output error", errors.New("exit status 5")
		}
		return "", nil
	}}, &asked
}

// launchd forgets a job some time after bootout has said so.
func TestLaunchdIsToldUntilItListens(t *testing.T) {
	fails := map[string]int{"launchctl bootout gui/501/io.github.hookd": 1}
	m, asked := mac(t, fails)
	bootstrap := "launchctl bootstrap gui/501 " + m.home + "/Library/LaunchAgents/io.github.hookd.plist"
	fails[bootstrap] = 1
	mgr := m.manager()
	if err := m.do(t.Context(), mgr.start(nil)); err != nil {
		t.Error(err)
	}
	want := []string{"launchctl bootout gui/501/io.github.hookd", "launchctl enable gui/501/io.github.hookd", bootstrap, bootstrap}
	if !slices.Equal(*asked, want) {
		t.Errorf("asked %q, want %q", *asked, want)
	}
	if !mgr.active(t.Context()) {
		t.Error("a job that launchd knows is not active")
	}
}

func TestLaunchdFiles(t *testing.T) {
	m, _ := mac(t, nil)
	mgr := m.manager()
	files, err := mgr.files(packaging.Service{Program: "/opt/homebrew/bin/hookd", Log: mgr.folders()[0] + "/hookd.log"})
	if err != nil {
		t.Fatal(err)
	}
	list, err := changes(mgr, files)
	if err != nil || len(list) != 1 || list[0].State != "new" {
		t.Fatalf("got %+v, %v", list, err)
	}
	if err := apply(list, mgr.folders()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(m.home, "Library", "LaunchAgents", "io.github.hookd.plist")
	if text, err := os.ReadFile(path); err != nil || string(text) != files[0].Text {
		t.Errorf("got %q, %v in %s", text, err, path)
	}
	if _, err := os.Stat(filepath.Join(m.home, "Library", "Logs", "hookd")); err != nil {
		t.Errorf("no folder for the log: %v", err)
	}
	if list, err = changes(mgr, nil); err != nil || len(list) != 1 || list[0].State != "removed" {
		t.Errorf("got %+v, %v, want it to be removed by uninstall", list, err)
	}
}

func TestPathOfTheService(t *testing.T) {
	home := t.TempDir()
	m := &Machine{home: home}
	for _, dir := range []string{"bin", "open"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(home, "open"), 0o777); err != nil {
		t.Fatal(err)
	}
	bin, open := filepath.Join(home, "bin"), filepath.Join(home, "open")
	got, left := m.path(strings.Join([]string{bin, "", ".", "relative", "/nowhere", "/usr/bin", bin + "/", bin, os.TempDir(), open}, ":"))
	if want := bin + ":/usr/bin"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(left) != 2 || !strings.Contains(left[0], "temporary") || !strings.Contains(left[1], "writable by every user") {
		t.Errorf("left out %q", left)
	}
}

// A program in a versioned folder is gone after the next upgrade: the link
// that PATH has to it is not.
func TestProgramOfAPackageManager(t *testing.T) {
	prefix, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cellar := filepath.Join(prefix, "Cellar", "hookd", "1.0", "bin")
	if err := errors.Join(os.MkdirAll(cellar, 0o755), os.Mkdir(filepath.Join(prefix, "bin"), 0o755), os.WriteFile(filepath.Join(cellar, "hookd"), nil, 0o755),
		os.Symlink("../Cellar/hookd/1.0/bin/hookd", filepath.Join(prefix, "bin", "hookd"))); err != nil {
		t.Fatal(err)
	}
	m := &Machine{home: prefix, exe: filepath.Join(cellar, "hookd")}
	t.Setenv("PATH", filepath.Join(prefix, "bin"))
	if got, err := m.program(); got != filepath.Join(prefix, "bin", "hookd") {
		t.Errorf("got %q, %v, want the link", got, err)
	}
	t.Setenv("PATH", "/usr/bin")
	if got, err := m.program(); got != m.exe {
		t.Errorf("got %q, %v, want the program, as no link leads to it", got, err)
	}
	m.home = "/somewhere"
	if _, err := m.program(); err == nil || !strings.Contains(err.Error(), "temporary") {
		t.Errorf("got %v, want a temporary folder refused", err)
	}
}

func TestStepIsWrittenAsTyped(t *testing.T) {
	s := Step{argv: []string{"systemctl", "--user", "enable", "a b", "--x=$y"}}
	if got, want := s.String(), `systemctl --user enable 'a b' '--x=$y'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A service is restarted by its manager, which keeps the socket open; a process of another kind is not.
func TestRestart(t *testing.T) {
	var asked []string
	m := &Machine{goos: "linux", home: t.TempDir(), run: func(_ context.Context, argv []string) (string, error) {
		line := strings.Join(argv, " ")
		asked = append(asked, line)
		if strings.Contains(line, "MainPID") {
			return "7\n", nil
		}
		return "", nil
	}}
	t.Setenv("PATH", t.TempDir()) // the test finds systemctl on every machine
	if err := os.WriteFile(filepath.Join(os.Getenv("PATH"), "systemctl"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if ours, err := m.Restart(t.Context(), 8); ours || err != nil {
		t.Errorf("got %v, %v of a process that is no service", ours, err)
	}
	if line := "systemctl --user restart hookd.service"; slices.Contains(asked, line) {
		t.Errorf("ran %s for a process that is no service", line)
	}
	if ours, err := m.Restart(t.Context(), 7); !ours || err != nil {
		t.Errorf("got %v, %v of the service", ours, err)
	}
	if line := "systemctl --user restart hookd.service"; !slices.Contains(asked, line) {
		t.Errorf("asked %q, want %s", asked, line)
	}
	for _, line := range asked {
		if strings.Contains(line, " stop ") {
			t.Errorf("ran %s: the socket is closed for a moment", line)
		}
	}
}

package service

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/people/doctor"
)

// Each answer of systemd about the unit becomes the command that a person is to type.
func TestLookAtSystemd(t *testing.T) {
	tests := []struct {
		name, said string
		err        error
		want       doctor.Level
		do         string
	}{
		{"absent", "LoadState=not-found\nActiveState=inactive\n", nil, doctor.Note, "hookd install"},
		{"broken", "LoadState=bad-setting\n", nil, doctor.Problem, "hookd install"},
		{"failed", "LoadState=loaded\nActiveState=failed\nResult=exit-code\nUnitFileState=enabled\n", nil, doctor.Problem, "journalctl --user -u hookd -n 20"},
		{"stale", "LoadState=loaded\nActiveState=active\nNeedDaemonReload=yes\nUnitFileState=enabled\n", nil, doctor.Note, "systemctl --user daemon-reload"},
		{"disabled", "LoadState=loaded\nActiveState=active\nUnitFileState=disabled\n", nil, doctor.Note, "systemctl --user enable hookd.socket hookd.service"},
		{"restarted", "LoadState=loaded\nActiveState=active\nUnitFileState=enabled\nNRestarts=3\n", nil, doctor.Note, "journalctl --user -u hookd -n 50"},
		{"silent", "no bus", errors.New("exit status 1"), doctor.Note, "systemctl --user status hookd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &Machine{goos: "linux", run: func(context.Context, []string) (string, error) { return tt.said, tt.err }}
			found := state{manager: systemd{m}, machine: m}.systemd(t.Context())
			for _, f := range found {
				if f.Do == tt.do && f.Level == tt.want {
					return
				}
			}
			t.Errorf("got %+v, want a %s with `%s`", found, tt.want, tt.do)
		})
	}
}

func TestLookAtLaunchd(t *testing.T) {
	home := t.TempDir()
	loaded := errors.New("no such job")
	m := &Machine{goos: "darwin", home: home, run: func(context.Context, []string) (string, error) { return "", loaded }}
	s := state{manager: launchd{m}, machine: m, files: installedFiles(launchd{m})}
	if found := s.launchd(t.Context()); found[0].Level != doctor.Note || found[0].Do != "hookd install" {
		t.Errorf("not installed: %+v", found)
	}
	plist := filepath.Join(home, "Library", "LaunchAgents", "io.github.hookd.plist")
	if err := errors.Join(os.MkdirAll(filepath.Dir(plist), 0o755), os.WriteFile(plist, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	s.files = installedFiles(launchd{m})
	if found := s.launchd(t.Context()); found[0].Level != doctor.Problem || !strings.Contains(found[0].Found, plist) {
		t.Errorf("not loaded: %+v", found)
	}
	loaded = nil
	if found := s.launchd(t.Context()); found[0].Level != doctor.OK {
		t.Errorf("loaded: %+v", found)
	}
}

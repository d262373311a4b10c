package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/doctor"
)

// What systemd says of the unit becomes what a person is to type.
func TestDoctorService(t *testing.T) {
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
			m := &machine{system: "linux", run: func(context.Context, []string) (string, error) { return tt.said, tt.err }}
			found := serviceState{manager: systemd{m}, machine: m}.systemd(t.Context())
			if got := doctor.Worst(found); got != tt.want {
				t.Errorf("got %s, want %s: %+v", got, tt.want, found)
			}
			for _, f := range found {
				if f.Do == tt.do {
					return
				}
			}
			t.Errorf("got %+v, want `%s`", found, tt.do)
		})
	}
}

func TestDoctorLaunchd(t *testing.T) {
	home := t.TempDir()
	loaded := errors.New("no such job")
	m := &machine{system: "darwin", home: home, run: func(context.Context, []string) (string, error) { return "", loaded }}
	s := serviceState{manager: launchd{m}, machine: m, files: installedFiles(launchd{m})}
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

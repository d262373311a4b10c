package proc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Check finds, without starting them, the programs that would not start, and agrees with
// the error of a start.
func TestCheck(t *testing.T) {
	tests := []struct {
		name, text string
		mode       os.FileMode
		want       string // "" = nothing is wrong
		starts     bool   // env starts, and then fails itself
	}{
		{"fine", "#!/bin/sh\nexit 0\n", 0o755, "", false},
		{"fine_env", "#!/usr/bin/env -S sh -e\nexit 0\n", 0o755, "", false},
		{"not_executable", "#!/bin/sh\n", 0o644, "it is not executable; type: chmod +x", false},
		{"no_interpreter", "#!/nowhere/python9\n", 0o755, "asks for /nowhere/python9, which does not exist", false},
		{"carriage_return", "#!/bin/sh\r\nexit 0\r\n", 0o755, "Windows line ends", false},
		{"no_first_line", "exit 0\n", 0o755, "does not say what runs it", false},
		{"empty", "", 0o755, "it is empty", false},
		{"not_in_path", "#!/usr/bin/env python-nowhere\n", 0o755, "asks env for python-nowhere, which is not in the PATH", true},
		{"env_carriage_return", "#!/usr/bin/env sh\r\n", 0o755, "Windows line ends", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "hook")
			if err := os.WriteFile(path, []byte(tt.text), tt.mode); err != nil {
				t.Fatal(err)
			}
			s := Spec{Path: path, Env: []string{"PATH=/nowhere", "PATH=" + os.Getenv("PATH")}}
			err := Check(s)
			var start *StartError
			switch {
			case tt.want == "" && err != nil:
				t.Fatalf("got %v, want nothing wrong", err)
			case tt.want == "":
				return
			case !errors.As(err, &start) || start.Path != path || !strings.Contains(err.Error(), tt.want):
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			if tt.starts {
				return
			}
			if x := New(Options{}).Run(t.Context(), Spec{Path: path, Env: s.Env, Timeout: time.Minute}); x.Err == nil || x.Err.Error() != err.Error() {
				t.Errorf("a start says %v, Check said %v", x.Err, err)
			}
		})
	}
}

func TestCheckMissing(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(dir, "none"): "there is no such file",
		dir:                        "it is a directory",
	} {
		if err := Check(Spec{Path: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
	if err := Check(Spec{Path: "/bin/sh", Dir: filepath.Join(dir, "none")}); err == nil || !strings.Contains(err.Error(), "mkdir -p") {
		t.Errorf("no working directory: got %v", err)
	}
}

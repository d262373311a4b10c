package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/wire"
)

// Exit codes are a promise to programs, and every error ends with a command.
func TestExplain(t *testing.T) {
	refused := func(code wire.Code) error { return &wire.Error{Code: code, Message: "no", Hint: "do otherwise"} }
	tests := []struct {
		name string
		err  error
		code int
	}{
		{"any", errors.New("disk on fire"), exitFailed},
		{"not_running", fmt.Errorf("dial: %w", client.ErrNotRunning), exitNotRunning},
		{"timeout", fmt.Errorf("emit: %w", client.ErrTimeout), exitNoAnswer},
		{"deadline", context.DeadlineExceeded, exitNoAnswer},
		{"cancelled", context.Canceled, exitFailed},
		{"bad_json", refused(wire.CodeBadJSON), exitUsage},
		{"bad_event_name", refused(wire.CodeBadEventName), exitUsage},
		{"reserved", refused(wire.CodeReserved), exitUsage},
		{"rejected", refused(wire.CodeRejected), exitRejected},
		{"not_found", refused(wire.CodeNotFound), exitFailed},
		{"queue_full", refused(wire.CodeQueueFull), exitFailed},
		{"draining", refused(wire.CodeDraining), exitFailed},
		{"internal", refused(wire.CodeInternal), exitFailed},
		{"own", fail(exitUsage, "type `hookd list`", "no"), exitUsage},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := explain(tt.err)
			if f.code != tt.code {
				t.Errorf("exit code %d, want %d", f.code, tt.code)
			}
			if !strings.Contains(f.hint, "hookd ") {
				t.Errorf("hint %q names no command", f.hint)
			}
		})
	}
}

// An error names a command even where its place has none: of a full disk df, not the permissions.
func TestEveryErrorHasAHint(t *testing.T) {
	const home = "/home/me/.librefang"
	full := &fs.PathError{Op: "write", Path: home + "/a", Err: syscall.ENOSPC}
	for _, tt := range []struct {
		hint string
		err  error
		want string
	}{
		{permissionsHint + home, syscall.ENOSPC, "make room there: see `df -h " + home + "`"},
		{permissionsHint + home, syscall.EACCES, "see the permissions of " + home},
		{"", full, "make room there: see `df -h " + home + "`"},
		{"", errors.New("disk on fire"), "see what is wrong with `hookd doctor`"},
		{"", fail(exitUsage, "type it again", "no"), "type it again"},
	} {
		var f *failure
		if errors.As(fail(exitFailed, tt.hint, "write: %w", tt.err), &f); f.hint != tt.want {
			t.Errorf("%q, %v: %q, want %q", tt.hint, tt.err, f.hint, tt.want)
		}
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/events"
)

// Exit codes are a promise to programs, and every error ends with a command.
func TestExplain(t *testing.T) {
	refused := func(code events.Code) error { return &events.Error{Code: code, Message: "no", Hint: "do otherwise"} }
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
		{"bad_json", refused(events.CodeBadJSON), exitUsage},
		{"bad_event_name", refused(events.CodeBadEventName), exitUsage},
		{"reserved", refused(events.CodeReserved), exitUsage},
		{"rejected", refused(events.CodeRejected), exitRejected},
		{"not_found", refused(events.CodeNotFound), exitFailed},
		{"queue_full", refused(events.CodeQueueFull), exitFailed},
		{"draining", refused(events.CodeDraining), exitFailed},
		{"internal", refused(events.CodeInternal), exitFailed},
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

package connect

import (
	"strings"
	"testing"
)

// Connecting Cursor, whose payloads may not identify the calls of one event, says so, in
// whatever order both are connected. Copilot's do: the bridge sends each event once.
func TestEventsThatComeTwice(t *testing.T) {
	for _, tt := range []struct {
		first, second string
		project       bool
		want          bool
	}{
		{"claude-code", "cursor", false, true}, {"cursor", "claude-code", false, true},
		{"claude-code", "copilot", false, false}, {"copilot", "claude-code", false, false},
		{"claude-code", "copilot", true, false}, {"copilot", "claude-code", true, false},
		{"claude-code", "cursor", true, true}, {"cursor", "claude-code", true, true},
		{"claude-code", "codex", true, false}, {"codex", "claude-code", true, false},
	} {
		o, _ := options(t, tt.first, nil)
		if tt.project {
			o.Project = t.TempDir()
		}
		alone := apply(t, Connect, o)
		o.Agent = tt.second
		p := apply(t, Connect, o)
		if got := strings.Contains(strings.Join(p.Notes, "\n"), "name the same call"); got != tt.want || strings.Contains(strings.Join(alone.Notes, "\n"), "name the same call") {
			t.Errorf("%+v: got notes %q, then %q", tt, alone.Notes, p.Notes)
		}
		o.Agent = tt.first
		apply(t, Disconnect, o)
		o.Agent = tt.second
		if s := Inspect(o); s.State != Connected && len(s.Events) == 0 {
			t.Errorf("%+v: got %+v after the other one was disconnected", tt, s)
		}
	}
}

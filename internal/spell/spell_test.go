package spell

import (
	"strings"
	"testing"
)

func TestNear(t *testing.T) {
	words := []string{"command", "events", "timeout", "exclude_tools", "agent:end"}
	for _, tt := range []struct{ text, want string }{
		{"comand", "command"}, {"Command", "command"}, {"evnets", "events"}, {"event", "events"},
		{"excludeTools", "exclude_tools"}, {"agent:edn", "agent:end"}, {"commnad", "command"}, {"time-out", "timeout"}, {"environment", ""}, {"completely-else", ""}, {"", ""},
		{strings.Repeat("x", 1000), ""},
	} {
		if got := Near(tt.text, words); got != tt.want {
			t.Errorf("Near(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

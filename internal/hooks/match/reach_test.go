package match

import (
	"testing"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
)

// A hook that is tried without an event's name gets the first that it names.
func TestFirstEvent(t *testing.T) {
	for _, tt := range []struct {
		patterns []string
		want     string
	}{
		{[]string{"agent:*", "PreToolUse", "Stop"}, "PreToolUse"},
		{[]string{"zzz:*", "PreTool*"}, "PreToolUse"},
		{[]string{"zzz:*"}, "test"},
		{[]string{"my:own"}, "my:own"},
	} {
		if got := FirstEvent(matchtest.Hook("h", tt.patterns...)); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.patterns, got, tt.want)
		}
	}
}

// A name reaches the hooks that know the event by any name of its kind.
func TestReaches(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		dialect events.Dialect
		name    string
		want    bool
	}{
		{"PreToolUse", events.ClaudeCode, "PreToolUse", true},
		{"PreToolUse", events.GeminiCLI, "BeforeTool", true},
		{"Stop", events.ClaudeCode, "PreToolUse", false},
		{"my:*", "", "my:own", true},
		{"my:*", "", "other:own", false},
	} {
		if got := NewSingle(matchtest.Hook("h", tt.pattern), nil).Reaches(tt.dialect, tt.name); got != tt.want {
			t.Errorf("%s of %q reaches %s: got %v", tt.name, tt.dialect, tt.pattern, got)
		}
	}
}

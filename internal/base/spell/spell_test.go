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

// Case and separators decide between words that are as close.
func TestNearTellsCaseApart(t *testing.T) {
	words := []string{"pre_tool_use", "PreToolUse", "preToolUse", "claude-code", "codex", "copilot", "agent:start", "agent:end"}
	for _, tt := range []struct{ text, want string }{
		{"PreToolUs", "PreToolUse"}, {"pre_tool_us", "pre_tool_use"}, {"preToolUs", "preToolUse"}, {"preToolUse", "preToolUse"},
		{"claud", "claude-code"}, {"claude", "claude-code"}, {"Claude_C", "claude-code"}, {"agent", ""}, {"cop", ""}, {"co", ""},
	} {
		if got := Near(tt.text, words); got != tt.want {
			t.Errorf("Near(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

// Giving up early changes no answer.
func TestDistance(t *testing.T) {
	words := []string{"", "a", "ab", "ba", "abc", "acb", "cab", "abcd", "badc", "agent:end", "agent:edn", "agnet:edn", "session:end", "app1:done", "ab:cd"}
	for _, a := range words {
		for _, b := range words {
			want, _ := Distance(a, b, longest)
			if back, _ := Distance(b, a, longest); back != want {
				t.Errorf("%q to %q: %d, back: %d", a, b, want, back)
			}
			for most := range 10 {
				got, near := Distance(a, b, most)
				if near != (want <= most) || near && got != want {
					t.Errorf("Distance(%q, %q, %d) = %d, %v; it is %d", a, b, most, got, near, want)
				}
			}
		}
	}
}

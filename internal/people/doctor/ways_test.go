package doctor

import (
	"testing"

	"github.com/hookd/hookd/internal/events"
)

// Each way is known by the words of an event that came on it.
func TestWays(t *testing.T) {
	call := events.For(events.ClaudeCode, "PreToolUse")
	for _, tt := range []struct {
		want string // the first way that it came on
		e    seenEvent
	}{
		{"in a subagent", seenEvent{Event: events.Event{Contract: call}, agent: "x"}},
		{"an MCP server's tool", seenEvent{Event: events.Event{Contract: call, Tool: "mcp__a__b"}}},
		{"in the background", seenEvent{Event: events.Event{Contract: call}, input: []byte(`{"run_in_background":true}`)}},
		{"a skill's own shell line", seenEvent{Event: events.Event{Contract: events.For(events.ClaudeCode, "PreSkillShellCommand")}}},
		{"after a slash command", seenEvent{Event: events.Event{Contract: events.For(events.ClaudeCode, "UserPromptSubmit")}, prompt: "/init"}},
		{"with a person", seenEvent{Event: events.Event{Contract: call}}},
		{"headless", seenEvent{Event: events.Event{Contract: call, Envelope: events.Envelope{Unasked: true}}}},
		{"", seenEvent{Event: events.Event{Contract: events.For(events.ClaudeCode, "UserPromptSubmit")}, prompt: "init"}},
	} {
		got := ""
		for _, one := range ways {
			if one.is(&tt.e) {
				got = one.way
				break
			}
		}
		if got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

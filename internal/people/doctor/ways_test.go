package doctor

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
)

// A way that is never seen says why.
func TestWaysThatCannotBeSeen(t *testing.T) {
	for _, tt := range []struct {
		agent     events.Dialect
		way, want string
	}{
		{events.ClaudeCode, "in a subagent", ""},
		{events.Kimi, "in a subagent", untold},
		{events.Kimi, "a skill's own shell line", lacked},
		{events.Pi, "in a subagent", lacked},
		{events.Codex, "in the background", untold},
		{events.GeminiCLI, "a skill's own shell line", "not asked: !{…} in a command runs before any hook, as seen in 0.61"},
		{events.Codex, "with a person", "its hooks are not told whether a person is there"},
		{events.ClaudeCode, "headless", ""},
	} {
		for _, one := range ways {
			w := exam{dialect: tt.agent}
			if got := w.cannot(one.kind); one.way == tt.way && got != tt.want {
				t.Errorf("%s %s: %q, want %q", tt.agent, tt.way, got, tt.want)
			}
		}
	}
}

// A call between the start of a subagent and its end counts, in the same session alone.
func TestCallsWhileASubagentRuns(t *testing.T) {
	call := func(event, session, tool string) *events.Event {
		return &events.Event{
			Envelope: events.Envelope{
				Event: event, Dialect: events.Kimi, SessionID: session, Data: json.RawMessage(`{"tool_name":"` + tool + `"}`),
			},
			Contract: events.For(events.Kimi, event),
		}
	}
	var w underWay
	for _, e := range []*events.Event{ // the newest first
		call("PreToolUse", "one", "Bash"),
		call("PostToolUse", "one", "Agent"),
		call("PreToolUse", "two", "Bash"),
		call("PreToolUse", "one", "Agent"),
		call("PreToolUse", "one", "Bash"),
	} {
		if w.back(e, time.Now()); w.seen != nil {
			t.Fatalf("%s of %s counts", dialect.Call(e).Tool, e.SessionID)
		}
	}
	w.back(call("PostToolUse", "one", "Agent"), time.Now())
	if w.back(call("PreToolUse", "one", "Bash"), time.Now()); w.seen == nil {
		t.Error("a call within does not count")
	}
}

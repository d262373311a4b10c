package dialect

import (
	"encoding/json"
	"testing"

	"github.com/hookd/hookd/internal/events"
)

// The subject that is looked up for each tool event that is accepted.
func BenchmarkSubject(b *testing.B) {
	e := &events.Event{
		Envelope: events.Envelope{Event: "PostToolUse", Dialect: events.ClaudeCode, Data: json.RawMessage(
			`{"session_id":"s1","cwd":"/srv/app","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":` +
				`"go test ./... | tail","description":"Run the tests"},"tool_response":{"stdout":"ok"},"tool_use_id":"t1"}`)},
		Contract: events.For(events.ClaudeCode, "PostToolUse"),
	}
	b.ReportAllocs()
	for b.Loop() {
		Subject(e, nil)
	}
}

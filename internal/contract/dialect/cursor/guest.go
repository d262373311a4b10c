package cursor

import (
	"encoding/json"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// guest: Cursor runs the hooks in Claude Code's settings after its own, with its own
// payloads: others have seen sessionStart and preToolUse with 2026.08.11 and 2026.09.02
// of its command line. A payload under Claude Code's name of the event is read as that
// one's.
func guest() *neutral.Guest {
	return &neutral.Guest{
		Hosts: []events.Dialect{events.ClaudeCode},
		Sent: func(payload json.RawMessage, _ func(string) string) bool {
			return rawjson.Get(payload, "cursor_version") != nil
		},
		Named: func(payload json.RawMessage) string { agent := Agent(); return agent.EventName(payload) },
		When: func(payload json.RawMessage, row *events.Contract) string {
			generation := rawjson.StringIn(payload, "generation_id")
			use := rawjson.StringIn(payload, "tool_use_id")
			switch {
			case generation == "", row.FailClosed && use == "": // one turn has many calls
				return ""
			default:
				return generation + "\x00" + use
			}
		},
	}
}

package cursor

import (
	"encoding/json"

	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/rawjson"
)

// guest: Cursor runs the hooks in Claude Code's settings after its own, in Claude
// Code's form with its own version in it.
func guest() *neutral.Guest {
	return &neutral.Guest{
		Hosts: []events.Dialect{events.ClaudeCode},
		Sent: func(payload json.RawMessage, _ func(string) string) bool {
			return rawjson.Get(payload, "cursor_version") != nil
		},
		When: func(payload json.RawMessage, row *events.Contract) string {
			generation, _ := rawjson.GetString(payload, "generation_id")
			use, _ := rawjson.GetString(payload, "tool_use_id")
			switch {
			case generation == "", row.FailClosed && use == "": // one turn has many calls
				return ""
			default:
				return generation + "\x00" + use
			}
		},
	}
}

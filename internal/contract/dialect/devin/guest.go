package devin

import (
	"encoding/json"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// projectDir is set in the environment of Devin's hooks (source: its documentation).
const projectDir = "DEVIN_PROJECT_DIR"

// guest: Devin runs the hooks in Claude Code's settings too, and gives them its own
// payloads. Claude Code's have a transcript_path, also where Devin has started it.
func guest() *neutral.Guest {
	return &neutral.Guest{
		Hosts: []events.Dialect{events.ClaudeCode},
		Sent: func(payload json.RawMessage, getenv func(string) string) bool {
			return getenv(projectDir) != "" && rawjson.Get(payload, "transcript_path") == nil
		},
		Named: func(payload json.RawMessage) string { agent := Agent(); return agent.EventName(payload) },
		When: func(payload json.RawMessage, row *events.Contract) string {
			prompt := rawjson.StringIn(payload, "prompt_id")
			use := rawjson.StringIn(payload, "tool_use_id")
			if row.FailClosed && (prompt == "" || use == "") {
				return "" // one turn has many calls
			}
			return "prompt " + prompt + "\x00" + use
		},
	}
}

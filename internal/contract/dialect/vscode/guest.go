package vscode

import (
	"encoding/json"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// guest: Visual Studio Code runs the hooks of Copilot's and of Claude Code's settings, one
// after the other, and gives all of them the same payload (source: chatHookService.ts of
// its chat extension). hookEventName tells it from Copilot's command line; a payload with
// hook_event_name is taken for that one's, which has the same times.
func guest() *neutral.Guest {
	return &neutral.Guest{
		Hosts: []events.Dialect{events.ClaudeCode, events.Copilot},
		Sent: func(payload json.RawMessage, _ func(string) string) bool {
			return rawjson.Get(payload, "hookEventName") != nil && rawjson.Get(payload, "workspaceRoot") == nil
		},
		Named: func(payload json.RawMessage) string { agent := Agent(); return agent.EventName(payload) },
		When: func(payload json.RawMessage, _ *events.Contract) string {
			return rawjson.StringIn(payload, "timestamp")
		},
	}
}

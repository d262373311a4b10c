// Package grok speaks the dialect of Grok Build: Claude Code's names of events, with
// payloads of its own. It is pure. "No opinion" is an empty stdout.
package grok

import (
	"encoding/json"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.Grok, Events: Rows, Agent: Agent, Settings: Settings, Guest: guest(), Probe: "PreToolUse",
	}
}

// eventWords are the names that payloads give events.
const eventWords = "session_start=SessionStart session_end=SessionEnd user_prompt_submit=UserPromptSubmit " +
	"pre_tool_use=PreToolUse post_tool_use=PostToolUse post_tool_use_failure=PostToolUseFailure " +
	"permission_denied=PermissionDenied stop=Stop stop_failure=StopFailure stop_cancelled=StopCancelled " +
	"notification=Notification subagent_start=SubagentStart subagent_stop=SubagentStop pre_compact=PreCompact " +
	"post_compact=PostCompact"

// Agent is Grok Build. A hook can deny a tool call, and nothing else; it cannot ask.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "hookEventName", EventWords: eventWords, Timeout: neutral.Always(60 * time.Second),
		Foreign: true, Answer: Answer,
	}
}

// guest: Grok Build runs the hooks in Claude Code's settings too, and gives them its
// own payloads.
func guest() *neutral.Guest {
	return &neutral.Guest{
		Hosts: []events.Dialect{events.ClaudeCode},
		Sent: func(payload json.RawMessage, _ func(string) string) bool {
			return rawjson.Get(payload, "hookEventName") != nil && rawjson.Get(payload, "workspaceRoot") != nil
		},
		Named: func(payload json.RawMessage) string { agent := Agent(); return agent.EventName(payload) },
		When: func(payload json.RawMessage, _ *events.Contract) string {
			return rawjson.StringIn(payload, "timestamp")
		},
	}
}

// Package qwen speaks Qwen Code's dialect: Claude Code's events and answers, with
// tools of its own names. It is pure. "No opinion" is an empty stdout.
package qwen

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
		Name: events.Qwen, Events: Rows, Agent: Agent, Settings: Settings,
		Probe: "PreToolUse", MCPTool: "mcp__hookd__probe", Inside: neutral.InsideTold,
		Ways: map[neutral.CallKind]string{neutral.BackCall: "is_background=true"},
		Unreported: map[neutral.CallKind]string{
			neutral.LineCall: "!{…} in a command runs before any hook, as seen in 0.24",
		},
	}
}

// Agent is Qwen Code. It gives up a hook after 60 s, whatever its settings say.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "hook_event_name", Timeout: neutral.Always(60 * time.Second),
		Asks:     "PreToolUse PermissionRequest",
		DenyExit: 2, Skips: empty, Answer: form.Answer,
		UnattendedFlags: "-p --prompt", // it does not run the call then, as seen in 0.24.4
	}
}

// empty reports the prompts that Qwen Code makes of a tool's results: it sends
// UserPromptSubmit again after each tool, with no text.
func empty(event string, payload json.RawMessage) bool {
	text, is := rawjson.GetString(payload, "prompt")
	return event == "UserPromptSubmit" && is && text == ""
}

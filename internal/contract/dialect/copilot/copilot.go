// Package copilot speaks GitHub Copilot's dialect in its camelCase form; its
// PascalCase form is Claude Code's. It is pure. Copilot takes any exit code but
// 0 for a denial of a tool call, so the exit code is always 0 and "no opinion"
// is {}.
package copilot

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.Copilot, Events: Rows, Words: Words, Agent: Agent, Settings: Settings,
		Guest: guest(), Probe: "preToolUse", Inside: neutral.InsideTold,
		Ways: map[neutral.CallKind]string{
			neutral.MCPCall: "-", neutral.BackCall: "mode=async", neutral.LineCall: neutral.Lacked,
		},
	}
}

// Agent is Copilot. In the camelCase form only the bridge's argument names the
// event.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "hook_event_name", Timeout: neutral.Always(30 * time.Second),
		Asks:   "preToolUse PreToolUse permissionRequest",
		Breaks: true, ResultField: "toolResult", Replaces: neutral.On("postToolUse"), Normal: normal,
		Answer: Answer, Borrows: events.ClaudeCode, Borrowed: borrowed,
		ShowsRun:        true,
		UnattendedFlags: "-p --prompt", // it does not run the call then, as seen in 1.0.102
	}
}

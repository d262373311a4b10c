// Package qoder speaks the dialect of Qoder and its command line: Claude Code's form,
// as the schemas in Qoder's program say. It is pure. "No opinion" is an empty stdout.
package qoder

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.Qoder, Events: Rows, Agent: Agent, Settings: Settings,
		Probe: "PreToolUse", Canonical: true, MCPTool: "mcp__hookd__probe",
	}
}

// Agent is Qoder.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table:      neutral.SharedTable(tools, "PostToolUseFailure StopFailure"),
		EventField: "hook_event_name", Timeout: neutral.Always(60 * time.Second),
		Asks:        "PreToolUse PermissionRequest",
		ResultField: "tool_response", Replaces: neutral.On("PostToolUse"), Answer: form.Answer,
	}
}

// Package droid speaks the dialect of Factory's Droid: Claude Code's form, with tools of
// its own names. It is pure. "No opinion" is an empty stdout.
package droid

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.Droid, Events: Rows, Agent: Agent, Settings: Settings,
		Probe: "PreToolUse", MCPTool: "mcp__hookd__probe",
	}
}

// Agent is Droid.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: neutral.SharedTable(tools, ""), EventField: "hook_event_name", Timeout: neutral.Always(60 * time.Second),
		Asks: "PreToolUse", DenyExit: 2, Answer: form.Answer,
	}
}

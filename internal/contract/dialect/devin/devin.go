// Package devin speaks the dialect of Devin's command line, which is Claude Code's form
// with tools of its own names. It is pure. "No opinion" is an empty stdout.
package devin

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.Devin, Events: Rows, Agent: Agent, Settings: Settings, Guest: guest(), Probe: "PreToolUse",
	}
}

// Agent is Devin's command line. That it can ask a person for a hook is not documented.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: neutral.SharedTable(tools, ""), EventField: "hook_event_name", CwdVariable: projectDir,
		Timeout: neutral.Always(60 * time.Second), Answer: Answer,
	}
}

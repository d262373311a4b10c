// Package vscode speaks the dialect of the agents in Visual Studio Code, which is Claude
// Code's form with tools of its own names. It is pure. "No opinion" is an empty stdout.
package vscode

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.VSCode, Events: Rows, Agent: Agent, Settings: Settings, Guest: guest(), Probe: "PreToolUse",
	}
}

// Agent is Visual Studio Code.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "hook_event_name hookEventName", Timeout: neutral.Always(30 * time.Second),
		Asks: "PreToolUse", Answer: form.Answer,
	}
}

// Package kiro speaks the dialect of Kiro's command line. It is pure. "No opinion" is an
// empty stdout; a call is denied by exit code 2 alone.
package kiro

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.Kiro, Events: Rows, Agent: Agent, Settings: Settings, Probe: "preToolUse", Probes: probes,
	}
}

// Agent is Kiro's command line. It cannot ask a person for a hook.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "hook_event_name", Timeout: neutral.Always(30 * time.Second), Foreign: true,
		Answer: Answer,
	}
}

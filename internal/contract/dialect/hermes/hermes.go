// Package hermes speaks the dialect of Hermes's shell hooks. It is pure. "No
// opinion" is {}.
package hermes

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.Hermes, Events: Rows, Words: Words, Agent: Agent, Settings: Settings,
		Probe: "pre_tool_call",
	}
}

// Agent is Hermes. It has a person approve a call where a hook asks.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "hook_event_name", Timeout: neutral.Always(60 * time.Second), Asks: "pre_tool_call",
		Foreign: true, Answer: Answer,
	}
}

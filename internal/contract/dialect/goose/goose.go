// Package goose speaks the dialect of goose and of Open Plugins, whose hooks goose
// follows. It is pure. "No opinion" is an empty stdout, which leaves the decision to
// goose's own permissions.
package goose

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{Name: events.Goose, Events: Rows, Agent: Agent, Settings: Settings, Probe: "PreToolUse"}
}

// Agent is goose. It cannot ask a person for a hook.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "event", Timeout: neutral.Always(60 * time.Second), Foreign: true, Answer: Answer,
	}
}

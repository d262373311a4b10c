// Package crush speaks Crush's dialect. It is pure. "No opinion" is an empty stdout: an
// approval skips Crush's own question, so it is written only when a hook said so.
package crush

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.Crush, Events: Rows, Words: Words, Agent: Agent, Settings: Settings,
		Probe: "PreToolUse", Inside: neutral.InsideSilent,
	}
}

// Agent is Crush. It cannot ask a person for a hook.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "event", Timeout: neutral.Always(60 * time.Second), Foreign: true, Answer: Answer,
	}
}

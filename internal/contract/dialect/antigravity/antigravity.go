// Package antigravity speaks the dialect of Antigravity's agy, as others have
// measured it. It is pure. There an empty answer to PreToolUse denies: "no
// opinion" has to be an allow, which does not switch off agy's own prompts.
package antigravity

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.Antigravity, Events: Rows, Words: Words, Agent: Agent, Settings: Settings,
		Probe: "PreToolUse",
	}
}

// Agent is Antigravity. Only the bridge's argument names the event.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), Timeout: neutral.Always(10 * time.Second), Asks: "PreToolUse",
		Quiet: true, Breaks: true, Foreign: true, Answer: Answer,
	}
}

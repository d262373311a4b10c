// Package openhands speaks the dialect of OpenHands: Claude Code's names of events, and
// payloads and answers of its own. It is pure. "No opinion" is an empty stdout.
package openhands

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{Name: events.OpenHands, Events: Rows, Agent: Agent, Settings: Settings, Probe: "PreToolUse"}
}

// Agent is OpenHands. It cannot ask a person for a hook.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "event_type", Timeout: neutral.Always(60 * time.Second), Foreign: true,
		Answer: Answer,
	}
}

// Package deepagents reads the dialect of deepagents' command line, whose hooks only
// watch: it starts them and does not read their output. It is pure.
package deepagents

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.DeepAgents, Events: Rows, Agent: Agent, Settings: Settings, Probe: "session.start",
		Probes: []neutral.Probe{{
			Kind: neutral.RunCall, Event: "session.start", Payload: `{"event": "session.start", "thread_id": "$SESSION"}`,
		}},
	}
}

// Agent is deepagents' command line, which ends a hook after 5 s and reads nothing.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "event", Timeout: neutral.Always(5 * time.Second),
		Answer: func(neutral.Asked) neutral.Reply { return neutral.Reply{} },
	}
}

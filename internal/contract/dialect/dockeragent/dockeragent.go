// Package dockeragent knows docker-agent's dialect: which agent's hooks an event
// belongs to and which payload its hooks read on stdin. Reading its configuration files
// is package source/dockeragent's business; its rules for answers are the rules of
// package verdict.
package dockeragent

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.DockerAgent, Events: Rows, Agent: Bridge, Settings: Settings, Rules: &rules,
		Probe: "pre_tool_use",
	}
}

// rules are the rules of the hooks of an agent's YAML file.
var rules = neutral.Rules{Agent: Agent, Place: neutral.PlaceOf, Conversation: neutral.SessionOf, Payload: Payload}

// Bridge is docker-agent as the bridge knows it: an agent whose own hook
// command is the bridge.
func Bridge() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "hook_event_name", Timeout: neutral.Always(60 * time.Second),
		Asks: "pre_tool_use tool_guard permission_request", Answer: Answer,
	}
}

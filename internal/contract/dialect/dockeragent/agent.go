package dockeragent

import (
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
)

// RootAgent is the agent of an event that names none.
const RootAgent = "root"

// Agent returns the agent whose hooks run for e: the
// envelope's agent_name, else the payload's, else root. A subagent_stop
// belongs to the parent, never to the child that its payload names;
// on_agent_switch to the agent that is left.
func Agent(e *events.Event) string {
	name := e.AgentName
	switch {
	case e.Contract.Name == "subagent_stop" && !e.AgentNamed:
		name = ""
	case e.Contract.Name == "on_agent_switch" && !e.AgentNamed:
		name = rawjson.StringIn(e.Data, "from_agent")
	}
	if name == "" {
		return RootAgent
	}
	return name
}

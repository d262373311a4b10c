// Package dockeragent knows docker-agent's dialect: which agent's hooks an
// event belongs to and what its hooks read on stdin. Reading its
// configuration files is package source/dockeragent's business; its rules for
// answers are those of package verdict.
package dockeragent

import "github.com/hookd/hookd/internal/events"

// RootAgent is the agent of an event that names none.
const RootAgent = "root"

// Agent returns the agent whose hooks run for e (SPEC section 10): the
// envelope's agent_name, else the payload's, else root. A subagent_stop
// belongs to the parent, never to the child that its payload names;
// on_agent_switch to the agent that is left.
func Agent(e *events.Event) string {
	name := e.AgentName
	switch {
	case e.Contract.Name == "subagent_stop" && !e.AgentNamed:
		name = ""
	case e.Contract.Name == "on_agent_switch" && !e.AgentNamed:
		name, _ = events.GetString(e.Data, "from_agent")
	}
	if name == "" {
		return RootAgent
	}
	return name
}

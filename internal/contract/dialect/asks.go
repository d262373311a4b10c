package dialect

import (
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// AsksItself reports whether the agent that sent e can ask a person itself when a hook
// asks, with this event or with a later one about the same call. An agent that runs
// without a person cannot.
func AsksItself(e *events.Event) bool {
	if e.Unattended {
		return false
	}
	agent, name := Agent(e.Dialect), e.Envelope.Event
	switch {
	case agent == nil:
		return false
	case agent.Answer == nil:
		return slices.Contains(strings.Split(agent.PluginCan, ", "), "ask a person about it")
	}
	asked := neutral.Asked{Event: name, Payload: e.Data}
	return asked.Is(agent.Asks) || agent.Defers != nil && agent.Defers(name, e.Data)
}

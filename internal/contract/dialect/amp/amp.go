// Package amp reads the dialect of Amp's plugins, as hookd's own plugin sends it. It is
// pure. There is no answer to write: the plugin takes the verdict as it is
// (internal/agents/bridge/shims).
package amp

import (
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.Amp, Events: Rows, Words: Words, Agent: Agent, Settings: Settings, Probe: "tool.call",
	}
}

// Agent is Amp, which the bridge cannot stand for.
func Agent() neutral.Agent { return neutral.Agent{Table: Table(), PluginCan: can} }

// can are the abilities of hookd's plugin, as the tests of internal/agents/bridge/shims
// show them.
const can = "deny a tool call, ask a person about it, rewrite it, rewrite it and approve it, replace a tool's result, " +
	"add context to a result, add context to a prompt, add context at the start, keep the agent working at its stop"

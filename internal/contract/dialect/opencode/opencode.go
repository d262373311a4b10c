// Package opencode reads the dialect of OpenCode's plugins, as hookd's own
// plugin sends it. It is pure. There is no answer to
// write: the plugin takes the verdict as it is (internal/agents/bridge/shims).
package opencode

import (
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.OpenCode, Events: Rows, Words: Words, Agent: Agent, Settings: Settings,
		Probe: "tool.execute.before", Inside: neutral.InsideTold,
		Ways: map[neutral.CallKind]string{
			neutral.MCPCall: neutral.Untold, neutral.BackCall: neutral.Lacked, neutral.SlashCall: neutral.Untold,
		},
		Unreported: map[neutral.CallKind]string{neutral.LineCall: "!`…` in a command runs before any hook, as seen in 1.18"},
	}
}

// Agent is OpenCode, which the bridge cannot stand for.
func Agent() neutral.Agent {
	return neutral.Agent{Table: Table(), PluginCan: can, ShowsRun: true, OwnRule: ownRule}
}

// can are the abilities of hookd's plugin, as the tests of internal/agents/bridge/shims
// show them.
const can = "deny a tool call, rewrite it, rewrite it and approve it, replace a tool's result, " +
	"add context to a result, deny a prompt, add context to a prompt, add context at the start"

// Package pi reads the dialect of Pi's extensions, as hookd's own extension sends it. It
// is pure. There is no answer to write: the extension takes the verdict as it is
// (internal/agents/bridge/shims).
package pi

import (
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.Pi, Events: Rows, Words: Words, Agent: Agent, Settings: Settings,
		Probe: "tool_call", Inside: neutral.InsideNone, MCPTool: "mcp__hookd__probe", // from 1.6.0
		Ways: map[neutral.CallKind]string{neutral.BackCall: neutral.Lacked, neutral.LineCall: neutral.Lacked},
	}
}

// commands is its shell's line around a command, which it gives as it is: it starts no shell for anything else.
var commands = neutral.Lazy(`(?s)^(.*)$`)

// Agent is Pi, which the bridge cannot stand for.
func Agent() neutral.Agent {
	return neutral.Agent{Table: Table(), PluginCan: can, ShowsRun: true, Commands: commands}
}

// can are the abilities of hookd's extension, as the tests of internal/agents/bridge/shims
// show them.
const can = "deny a tool call, ask a person about it, rewrite it, rewrite it and approve it, replace a tool's result, " +
	"add context to a result, deny a prompt, add context to a prompt, add context at the start, deny a compaction"

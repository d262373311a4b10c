// Package openclaw reads the dialect of OpenClaw's plugin hooks, as hookd's own
// plugin sends it (docs.openclaw.ai, "Plugin hooks"). It is pure. There is no
// answer to write: the plugin takes the verdict as it is (internal/agents/bridge/shims).
package openclaw

import (
	"encoding/json"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.OpenClaw, Events: Rows, Words: Words, Agent: Agent, Settings: Settings,
		Probe: "before_tool_call", MCPTool: "hookd__probe", Inside: neutral.InsideTold,
		Ways: map[neutral.CallKind]string{neutral.BackCall: "background=true", neutral.LineCall: neutral.Lacked},
	}
}

// commands is its shell's line around a command, as seen in 2026.9.
var commands = neutral.Lazy(
	`(?s)^if \[ -r '[^\n]*/shell-snapshots/.*\neval '(.*)'$`)

// Agent is OpenClaw, which the bridge cannot stand for.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), PluginCan: can, Commands: commands, ShowsRun: true,
		OwnPrompt: ownPrompt, OfSubagent: ofSubagent,
	}
}

// ownPrompt: a prompt is of a person where its trigger is the user, and its conversation no subagent's.
func ownPrompt(payload json.RawMessage) bool {
	trigger := rawjson.StringIn(payload, "trigger")
	return trigger != "" && trigger != "user"
}

// ofSubagent reports whether the conversation of an event is a subagent's.
func ofSubagent(payload json.RawMessage) bool {
	return strings.Contains(rawjson.StringIn(payload, "sessionKey"), ":subagent:")
}

// can are the abilities of hookd's plugin, as the tests of internal/agents/bridge/shims
// show them.
const can = "deny a tool call, ask a person about it, rewrite it, rewrite it and approve it, replace a tool's result, " +
	"add context to a result, deny a prompt, add context to a prompt, add context at the start, " +
	"keep the agent working at its stop"

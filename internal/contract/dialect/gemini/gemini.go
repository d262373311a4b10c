// Package gemini speaks Gemini CLI's dialect. It is pure. Gemini CLI takes the text on
// stderr for the answer when stdout is empty, so every answer is an object, and "no
// opinion" is {}.
package gemini

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.GeminiCLI, Events: Rows, Words: Words, Agent: Agent, Settings: Settings,
		Probe: "BeforeTool", MCPTool: "mcp_hookd_probe", Inside: neutral.InsideTold,
		Ways: map[neutral.CallKind]string{
			neutral.InsideCall: neutral.Untold, neutral.SlashCall: neutral.Untold,
			neutral.BackCall: "is_background=true",
		},
		Unreported: map[neutral.CallKind]string{
			neutral.LineCall: "!{…} in a command runs before any hook, as seen in 0.61",
		},
	}
}

// commands is its shell's line around a command, as seen in 0.61; a line of a slash command has a shorter one.
var commands = neutral.Lazy(
	`(?s)^shopt -u promptvars nullglob (?:.*\n\(\n[^\n]* EXIT\n|[a-z ]*; )(.*?)(?:\n\)\n__code=.*)?$`)

// Agent is Gemini CLI.
func Agent() neutral.Agent {
	return neutral.Agent{
		Commands: commands,
		Table:    Table(), EventField: "hook_event_name", Timeout: neutral.Always(60 * time.Second), Asks: "BeforeTool",
		DenyExit: 2, ShowsRun: true, Quiet: true, OwnRule: ownRule,
		ResultField: "tool_response", Replaces: neutral.On("AfterTool"), Answer: Answer,
		UnattendedFlags: "-p --prompt", // it ends at an ask then, as seen in 0.61.0
	}
}

// Package kimi speaks Kimi Code's dialect. It is pure. "No opinion" is an empty
// stdout; a prompt or a stop is blocked by exit code 2 alone.
package kimi

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.Kimi, Events: Rows, Words: Words, Agent: Agent, Settings: Settings, Probe: "PreToolUse",
		MCPTool: "mcp__hookd__probe", Inside: neutral.InsideTold,
		Ways: map[neutral.CallKind]string{
			neutral.InsideCall: neutral.Untold, neutral.LineCall: neutral.Lacked,
			neutral.BackCall: "run_in_background=true",
		},
	}
}

// Agent is Kimi Code. It cannot ask a person for a hook.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "hook_event_name", Timeout: neutral.Always(30 * time.Second),
		DenyExit: 2, Foreign: true, Answer: Answer,
	}
}

// Package codex speaks OpenAI Codex's dialect. It is pure. Codex refuses an answer with
// a word that it does not know, and then the tool runs, so each answer holds only
// members that its event takes. "No opinion" is an empty stdout.
package codex

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.Codex, Events: Rows, Agent: Agent, Settings: Settings,
		Probe: probe, Probes: probes, MCPTool: "mcp__hookd__probe", Inside: neutral.InsideTold,
		Unreported: map[neutral.CallKind]string{
			neutral.SearchCall: "its web search runs where its model does, and Codex calls no hook for it",
		},
	}
}

// commands is its shell's line around a command, as seen in 0.171.
var commands = neutral.Lazy(
	`(?s)^__CODEX_SNAPSHOT_OVERRIDE_.*\nexec '[^\n']*' -l?c '(.*)'$`)

// Agent is Codex. It cannot ask a person for a hook.
func Agent() neutral.Agent {
	return neutral.Agent{
		Commands: commands,
		Table:    Table(), EventField: "hook_event_name", Timeout: timeout, Asks: "PermissionRequest",
		ResultField: "tool_response", Replaces: neutral.On("PostToolUse"), Answer: Answer,
	}
}

// timeout is Codex's default (A2).
func timeout(event string) time.Duration {
	switch event {
	case "SessionEnd", "Interrupt":
		return time.Second
	}
	return 600 * time.Second
}

// Package windsurf speaks Windsurf Cascade's dialect. It is pure. All that
// Windsurf understands is exit code 2 with a reason on stderr, before something
// happens.
package windsurf

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.Windsurf, Events: Rows, Agent: Agent, Settings: Settings,
		Probe: "pre_run_command", Probes: []neutral.Probe{
			{Kind: neutral.WriteCall, Event: "pre_write_code"},
			{Kind: neutral.ReadCall, Event: "pre_read_code"},
			{Kind: neutral.MCPCall, Event: "pre_mcp_tool_use"},
		}, MCPTool: "probe",
	}
}

// Agent is Windsurf. It documents no deadline: 30 s is taken.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "agent_action_name", Timeout: neutral.Always(30 * time.Second), Answer: Answer,
	}
}

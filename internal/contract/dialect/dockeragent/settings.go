package dockeragent

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Settings says where docker-agent keeps its hooks, and how one is written there.
func Settings() neutral.Settings {
	return neutral.Settings{
		Given: true, Format: neutral.FormatYAML, At: []string{"agents", "*", "hooks"},
		Shape: neutral.ByTool, Keys: neutral.StandardKeys, Lead: neutral.TypeCommand, Unit: time.Second,
		Longest: 10 * time.Minute,
		Skip:    func(c *events.Contract) bool { return c.Explicit }, // no opinion would deny
		Plain:   "on_tool_approval_decision",
		Newer:   "tool_input_transform tool_guard",
	}
}

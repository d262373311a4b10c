package vscode

import (
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Rows is the contract of Visual Studio Code's agents.
func Rows() []events.Contract {
	common := events.Fields(neutral.SharedCommon(), events.String.Field("timestamp", "ISO 8601"))
	return form.Rows(common,
		"PreToolUse PostToolUse UserPromptSubmit Stop SubagentStart SubagentStop SessionStart PreCompact")
}

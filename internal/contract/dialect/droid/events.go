package droid

import (
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Rows is Droid's contract.
func Rows() []events.Contract {
	return form.Rows(neutral.SharedCommon(),
		"PreToolUse PostToolUse UserPromptSubmit Stop SubagentStop Notification SessionStart "+
			"SessionEnd PreCompact")
}

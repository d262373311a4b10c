package devin

import (
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Rows is the contract of Devin's command line.
func Rows() []events.Contract {
	rows := form.Rows(neutral.SharedCommon(),
		"PreToolUse PermissionRequest PostToolUse UserPromptSubmit Stop SessionStart SessionEnd")
	return append(rows, events.Contract{Name: "PostCompaction", Kind: events.KindCompactAfter,
		When: "after the conversation was compacted", Fields: neutral.SharedCommon()})
}

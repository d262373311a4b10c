package qoder

import (
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Rows is Qoder's contract.
func Rows() []events.Contract {
	return form.Rows(neutral.SharedCommon(),
		"PreToolUse PermissionRequest PermissionDenied PostToolUse PostToolUseFailure "+
			"UserPromptSubmit Stop StopFailure SubagentStart SubagentStop Notification SessionStart SessionEnd PreCompact PostCompact "+
			"InstructionsLoaded ConfigChange CwdChanged FileChanged WorktreeCreate WorktreeRemove Elicitation ElicitationResult "+
			"TaskCreated TaskCompleted TeammateIdle Setup")
}

package qoder

import (
	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// form is what Qoder reads.
var form = neutral.AnswerForm{
	Decides: "PreToolUse", Approves: "PreToolUse", Rewrites: "PreToolUse PermissionRequest",
	Permits: "PermissionRequest",
	Blocks:  "PostToolUse UserPromptSubmit Stop SubagentStop PreCompact ConfigChange TeammateIdle",
	Text:    "PreToolUse PostToolUse PostToolUseFailure UserPromptSubmit SessionStart SubagentStart Setup PreCompact",
	Results: "PostToolUse",
	Stops:   "PreToolUse PostToolUse UserPromptSubmit Stop SubagentStop",
	Says:    true,
	Elicits: "Elicitation ElicitationResult",
	Takes: map[string][]events.Field{
		"UserPromptSubmit": {events.TakesTitle}, "PermissionDenied": {events.TakesRetry},
		"CwdChanged": {events.TakesWatchPaths}, "FileChanged": {events.TakesWatchPaths},
	},
}

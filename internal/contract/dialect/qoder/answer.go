package qoder

import (
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// form has the answers that Qoder reads.
var form = neutral.AnswerForm{
	Decides: "PreToolUse", Approves: "PreToolUse", Rewrites: "PreToolUse PermissionRequest",
	Permits: "PermissionRequest",
	Blocks:  "PostToolUse UserPromptSubmit Stop SubagentStop PreCompact ConfigChange TeammateIdle",
	Text:    "PreToolUse PostToolUse PostToolUseFailure UserPromptSubmit SessionStart SubagentStart Setup PreCompact",
	Results: "PostToolUse",
	Stops:   "PreToolUse PostToolUse UserPromptSubmit Stop SubagentStop",
	Says:    true,
	Elicits: "Elicitation ElicitationResult",
	Takes:   takes,
}

func takes(event string) []events.Field {
	switch event {
	case "UserPromptSubmit":
		return []events.Field{events.TakesTitle}
	case "PermissionDenied":
		return []events.Field{events.TakesRetry}
	case "CwdChanged", "FileChanged":
		return []events.Field{events.TakesWatchPaths}
	}
	return nil
}

package qoder

import "github.com/hookd/hookd/internal/dialect/neutral"

// form is what Qoder reads.
var form = neutral.AnswerForm{
	Decides: "PreToolUse", Approves: "PreToolUse", Rewrites: "PreToolUse PermissionRequest",
	Permits: "PermissionRequest",
	Blocks:  "PostToolUse UserPromptSubmit Stop SubagentStop PreCompact ConfigChange",
	Text:    "PreToolUse PostToolUse PostToolUseFailure UserPromptSubmit SessionStart SubagentStart Setup PreCompact",
	Results: "PostToolUse",
	Stops:   "PreToolUse PostToolUse UserPromptSubmit Stop SubagentStop",
	Says:    true,
}

package qwen

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// form has the answers that Qwen Code reads. A new input counts with a permission
// request alone, and a block after a tool changes nothing.
var form = neutral.AnswerForm{
	Decides:  "PreToolUse",
	Approves: "PreToolUse",
	Rewrites: "PermissionRequest",
	Permits:  "PermissionRequest",
	Blocks:   "UserPromptSubmit UserPromptExpansion PostToolBatch Stop SubagentStop TodoCreated TodoCompleted",
	Text: "SessionStart UserPromptSubmit UserPromptExpansion PreToolUse PostToolUse PostToolUseFailure PostToolBatch " +
		"SubagentStart",
	Stops: "PreToolUse PostToolUse PostToolBatch",
	Says:  true,
}

package claudecode

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// form has the answers that Claude Code reads.
var form = neutral.AnswerForm{
	Decides:  "PreToolUse PreModelSwitch PreSkillShellCommand",
	Approves: "PreToolUse PreModelSwitch", Rewrites: "PreToolUse PreModelSwitch PermissionRequest",
	Defers: true, Permits: "PermissionRequest",
	Blocks: "UserPromptSubmit UserPromptExpansion PostToolUse PostToolBatch Stop SubagentStop PreCompact ConfigChange " +
		"TaskCreated",
	Exits:   "TaskCompleted TeammateIdle WorktreeCreate", // the only way to say no there
	Elicits: "Elicitation ElicitationResult",
	Text: "SessionStart Setup UserPromptSubmit UserPromptExpansion PreToolUse PostToolUse PostToolUseFailure " +
		"PostToolBatch Stop SubagentStart SubagentStop Notification PostModelSwitch",
	Results: "PostToolUse", Shaped: true,
	Stops: "*", Says: true,
}

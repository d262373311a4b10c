package vscode

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// form has the answers that Visual Studio Code documents. Its Stop takes a block inside
// hookSpecificOutput, its other events beside it.
var form = neutral.AnswerForm{
	Decides: "PreToolUse", Approves: "PreToolUse", Rewrites: "PreToolUse",
	Blocks: "PostToolUse SubagentStop",
	Inside: "Stop",
	Text:   "PreToolUse PostToolUse SessionStart SubagentStart",
	Stops:  "UserPromptSubmit PreToolUse PostToolUse PreCompact",
	Says:   true,
}

package droid

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// form has the answers that Droid reads. It takes a new input only from a hook that
// approves the call, and no new result.
var form = neutral.AnswerForm{
	Decides: "PreToolUse", Approves: "PreToolUse", Rewrites: "PreToolUse", Vouched: true,
	Blocks: "PostToolUse UserPromptSubmit Stop SubagentStop",
	Text:   "SessionStart UserPromptSubmit PostToolUse",
	Stops:  "PreToolUse PostToolUse UserPromptSubmit Stop SubagentStop",
	Says:   true,
}

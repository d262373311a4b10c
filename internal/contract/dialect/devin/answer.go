package devin

import (
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// form has the answers that Devin reads by its documentation, beside a block.
var form = neutral.AnswerForm{
	Permits: "PermissionRequest",
	Blocks:  "PreToolUse UserPromptSubmit Stop",
	Text:    "SessionStart UserPromptSubmit PostToolUse",
}

// Answer writes the answer that Devin reads. It takes decision block for a tool call,
// too.
func Answer(a neutral.Asked) neutral.Reply {
	if a.Is("PermissionRequest") && a.Denies() {
		return neutral.Say("", []rawjson.Member{neutral.Str("decision", "block"), neutral.Str("reason", a.Reason())}...)
	}
	return form.Answer(a)
}

package openhands

import (
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Answer writes the answer that OpenHands reads.
func Answer(a neutral.Asked) neutral.Reply {
	var top []rawjson.Member
	if a.Is("PreToolUse UserPromptSubmit Stop") && a.Denies() {
		top = append(top, neutral.Str("decision", "deny"), neutral.Str("reason", a.Reason()))
	}
	if text := a.Verdict.AdditionalContext; text != "" && a.Is("UserPromptSubmit") {
		top = append(top, neutral.Str("additionalContext", text))
	}
	return neutral.Say("", top...)
}

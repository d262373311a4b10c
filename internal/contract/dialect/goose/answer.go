package goose

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Answer writes the answer that goose reads: it takes a block, of two events.
func Answer(a neutral.Asked) neutral.Reply {
	if a.Denies() && a.Is("PreToolUse Stop") {
		return neutral.Say("", neutral.Str("decision", "block"), neutral.Str("reason", a.Reason()))
	}
	return neutral.Reply{}
}

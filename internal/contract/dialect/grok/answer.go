package grok

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Answer writes the answer that Grok Build reads. It takes an exit code other than 0
// and 2 for a failed hook, and goes on.
func Answer(a neutral.Asked) neutral.Reply {
	if !a.Is("PreToolUse") || !a.Denies() {
		return neutral.Reply{}
	}
	reply := neutral.Say("", neutral.Str("decision", "deny"), neutral.Str("reason", a.Reason()))
	reply.Exit = 2
	return reply
}

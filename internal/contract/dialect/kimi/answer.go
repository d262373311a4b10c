package kimi

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Answer writes the answer that Kimi Code reads.
func Answer(a neutral.Asked) neutral.Reply {
	switch {
	case a.Is("PreToolUse") && a.Denies():
		return neutral.Say("", neutral.Member("hookSpecificOutput",
			neutral.Str("hookEventName", a.Event),
			neutral.Str("permissionDecision", "deny"),
			neutral.Str("permissionDecisionReason", a.Reason())))
	case a.Is("UserPromptSubmit") && a.Denies(), a.Is("Stop") && a.Denies() && a.Verdict.Continue:
		return neutral.Reply{Stderr: a.Reason(), Exit: 2}
	case a.Is("UserPromptSubmit"):
		return neutral.Reply{Stdout: a.Verdict.AdditionalContext}
	}
	return neutral.Reply{}
}

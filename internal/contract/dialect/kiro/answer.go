package kiro

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Answer writes the answer that Kiro reads.
func Answer(a neutral.Asked) neutral.Reply {
	switch {
	case a.Is("preToolUse") && a.Denies():
		return neutral.Reply{Stderr: a.Reason(), Exit: 2}
	case a.Is("stop") && a.Denies() && a.Verdict.Continue:
		return neutral.Say("", neutral.Str("decision", "block"), neutral.Str("reason", a.Reason()))
	case a.Is("agentSpawn userPromptSubmit"):
		return neutral.Reply{Stdout: a.Verdict.AdditionalContext}
	}
	return neutral.Reply{}
}

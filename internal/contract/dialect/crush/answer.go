package crush

import (
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Answer writes the answer that Crush reads. It lays a new input over the old one.
func Answer(a neutral.Asked) neutral.Reply {
	var top []rawjson.Member
	switch {
	case a.Denies():
		top = append(top, neutral.Str("decision", "deny"), neutral.Str("reason", a.Reason()))
	case a.Allows() && a.Is("PreToolUse"):
		top = append(top, neutral.Str("decision", "allow"))
	}
	if !a.Verdict.Continue {
		if !a.Denies() {
			top = append(top, neutral.Str("reason", a.Verdict.StopReason))
		}
		top = append(top, neutral.Bool("halt", true))
	}
	if a.Rewrites() && a.Is("PreToolUse") {
		top = append(top, neutral.Raw("updated_input", a.Verdict.UpdatedInput))
	}
	if text := a.Verdict.AdditionalContext; text != "" && a.Is("PreToolUse") {
		top = append(top, neutral.Str("context", text))
	}
	return neutral.Say("", top...)
}

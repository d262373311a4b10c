package antigravity

import (
	"encoding/json"
	"slices"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Answer writes the answer that agy reads. An event that it cannot place is answered as
// PreToolUse, which is right for all.
func Answer(a neutral.Asked) neutral.Reply {
	switch {
	case a.Is("PostToolUse PostInvocation SessionStart"):
		return neutral.Say("{}")
	case a.Is("Stop"):
		if a.Denies() && a.Verdict.Continue {
			return decide("continue", a.Reason())
		}
		return neutral.Say("{}")
	case a.Is("PreInvocation"):
		return context(a)
	case a.Denies():
		return decide("deny", a.Reason())
	case a.Asks():
		return decide("force_ask", a.Reason())
	}
	return neutral.Say("", neutral.Str("decision", "allow"))
}

func decide(word, reason string) neutral.Reply {
	return neutral.Say("", neutral.Str("decision", word), neutral.Str("reason", reason))
}

func context(a neutral.Asked) neutral.Reply {
	if a.Verdict.AdditionalContext == "" {
		return neutral.Say("{}")
	}
	step := rawjson.With(nil, neutral.Str("ephemeralMessage", a.Verdict.AdditionalContext))
	return neutral.Say("", neutral.Raw("injectSteps", slices.Concat(json.RawMessage("["), step, json.RawMessage("]"))))
}

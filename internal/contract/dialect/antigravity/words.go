package antigravity

import "github.com/hookd/hookd/internal/contract/verdict"

// Words are the words in which Antigravity's own hooks answer, beside the common ones.
func Words() []verdict.Word {
	return []verdict.Word{
		{Key: "decision", Means: "permission_decision", Says: "ask=ask force_ask=ask"},
		{Key: "decision", Means: "decision", Says: "continue=block", Events: "Stop"},
		{Key: "reason", Means: "permission_decision_reason"}, {Key: "reason", Means: "reason"},
		{Key: "inject_steps", Means: "additional_context", Texts: "ephemeralMessage userMessage"},
		{Key: "permission_overrides"}, {Key: "overwrite"},
	}
}

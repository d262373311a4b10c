package kimi

import "github.com/hookd/hookd/internal/contract/verdict"

// Words are the words in which Kimi Code's own hooks answer, beside the common ones.
func Words() []verdict.Word {
	return []verdict.Word{
		{Key: "message", Means: "permission_decision_reason"}, {Key: "message", Means: "reason"},
		{Key: "hook_specific_output.message", Means: "permission_decision_reason"},
	}
}

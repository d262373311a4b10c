package hermes

import "github.com/hookd/hookd/internal/contract/verdict"

// Words are the words in which Hermes's own hooks answer, beside the common ones.
func Words() []verdict.Word {
	return []verdict.Word{
		{Key: "action", Means: "decision", Says: "block=block"},
		{Key: "action", Means: "decision", Says: "continue=block", Events: "pre_verify"},
		{Key: "action", Means: "permission_decision", Says: "approve=ask"},
		{Key: "action", Says: "modify= allow= none="},
		{Key: "message", Means: "reason"}, {Key: "message", Means: "permission_decision_reason"},
		{Key: "args", Means: "updated_input"},
		{Key: "context", Means: "additional_context"},
	}
}

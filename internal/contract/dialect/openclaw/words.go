package openclaw

import "github.com/hookd/hookd/internal/contract/verdict"

// Words are the words in which OpenClaw's own hooks answer, beside the common ones.
func Words() []verdict.Word {
	return []verdict.Word{
		{Key: "block", Means: "decision", Says: "true=block false="},
		{Key: "block_reason", Means: "reason"}, {Key: "block_reason", Means: "permission_decision_reason"},
		{Key: "cancel", Means: "decision", Says: "true=block false="},
		{Key: "require_approval.title", Means: "permission_decision_reason"},
		{Key: "require_approval.description", Means: "permission_decision_reason"},
		{Key: "require_approval", Means: "permission_decision", Says: "*=ask"},
		{Key: "params", Means: "updated_input"},
		{Key: "action", Means: "decision", Says: "revise=block", Events: "before_agent_finalize"},
		{Key: "action", Says: "finalize= continue="},
		{Key: "outcome", Means: "decision", Says: "block=block"}, {Key: "outcome", Says: "pass= allow="},
		{Key: "prepend_context", Means: "additional_context"}, {Key: "append_context", Means: "additional_context"},
	}
}

package cline

import "github.com/hookd/hookd/internal/contract/verdict"

// Words are the words in which Cline's own hooks answer, beside the common ones.
func Words() []verdict.Word {
	return []verdict.Word{
		{Key: "cancel", Means: "decision", Says: "true=block false="},
		{Key: "review", Means: "permission_decision", Says: "true=ask false="},
		{Key: "error_message", Means: "reason"}, {Key: "error_message", Means: "permission_decision_reason"},
		{Key: "context_modification", Means: "additional_context"}, {Key: "context", Means: "additional_context"},
		{Key: "override_input", Means: "updated_input"},
	}
}

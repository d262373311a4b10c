package copilot

import "github.com/hookd/hookd/internal/contract/verdict"

// Words are the words in which Copilot's own hooks answer, beside the common ones.
func Words() []verdict.Word {
	return []verdict.Word{
		{Key: "permission_decision", Means: "permission_decision", Says: "allow=allow ask=ask deny=deny"},
		{Key: "permission_decision_reason", Means: "permission_decision_reason"},
		{Key: "modified_args", Means: "updated_input"},
		{Key: "behavior", Means: "permission_decision", Says: "allow=allow deny=deny"},
		{Key: "message", Means: "permission_decision_reason"}, {Key: "message", Means: "reason"},
		{Key: "interrupt", Means: "continue", Says: "true=false false="},
		{Key: "modified_result", Means: "updated_tool_response"},
		{Key: "additional_context", Means: "additional_context"},
		{Key: "modified_response"}, {Key: "modified_transformed_prompt"},
	}
}

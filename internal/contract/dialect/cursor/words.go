package cursor

import "github.com/hookd/hookd/internal/contract/verdict"

// Words are the words in which Cursor's own hooks answer, beside the common ones.
func Words() []verdict.Word {
	return []verdict.Word{
		{Key: "permission", Means: "permission_decision", Says: "allow=allow ask=ask deny=deny"},
		{Key: "user_message", Means: "permission_decision_reason"}, {Key: "user_message", Means: "reason"},
		{Key: "agent_message", Means: "permission_decision_reason"}, {Key: "agent_message", Means: "reason"},
		{Key: "updated_input", Means: "updated_input"},
		{Key: "followup_message", Means: "reason"}, {Key: "followup_message", Means: "decision", Says: "*=block"},
		{Key: "updated_mcp_tool_output", Means: "updated_tool_response"},
		{Key: "additional_context", Means: "additional_context"},
		{Key: "env"}, {Key: "plugin_paths"},
	}
}

package familiar

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of Familiar's payloads hold which facts.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.FieldFact{
			{Field: "agent_name", Fact: neutral.AgentName},
			{Field: "agent_id", Fact: neutral.AgentID},
			{Field: "conversation_id", Fact: neutral.Session},
			{Field: "workspace", Fact: neutral.Cwd},
			{Field: "parent_agent", Fact: neutral.ParentAgent},
			{Field: "duration_ms", Fact: neutral.Took},
			{Field: "message_count", Fact: neutral.Messaged},
			{Field: "tool_call_count", Fact: neutral.Calls},
			{Field: "exit_reason", Fact: neutral.Status, Words: "complete=ok error=error timeout=error user_cancel=aborted"},
			{Field: "tool_name", Fact: neutral.Tool},
			{Field: "last_tool", Fact: neutral.Tool},
			{Field: "tool_args", Fact: neutral.Input},
			{Field: "tool_result", Fact: neutral.Result, Form: neutral.Flat},
			{Field: "tool_error", Fact: neutral.ErrorText},
			{Field: "tool_success", Fact: neutral.Failed, Form: neutral.Not},
			{Field: "tool_duration_ms", Fact: neutral.Took},
			{Field: "error_type", Fact: neutral.ErrorType},
			{Field: "error_message", Fact: neutral.ErrorText},
			{Field: "recoverable", Fact: neutral.Recoverable},
		},
		Fixed: []neutral.Fixed{{Events: "onError", Fact: neutral.Failed, Value: "true"}},
		// Its tools are called as the canonical ones are.
	}
}

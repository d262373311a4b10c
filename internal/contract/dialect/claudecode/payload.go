package claudecode

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.FieldFact{
			{Field: "session_id", Fact: neutral.Session},
			{Field: "prompt_id", Fact: neutral.Turn},
			{Field: "turn_id", Fact: neutral.Turn},
			{Field: "transcript_path", Fact: neutral.Transcript},
			{Field: "cwd", Fact: neutral.Cwd},
			{Field: "permission_mode", Fact: neutral.Mode},
			{Field: "hook_event_name", Fact: neutral.Event},
			{Field: "agent_id", Fact: neutral.AgentID},
			{Field: "agent_type", Fact: neutral.AgentType},
			{Field: "agent_transcript_path", Fact: neutral.AgentTranscript},
			{Field: "model", Fact: neutral.Model},
			{Field: "tool_name", Fact: neutral.Tool},
			{Field: "tool_input", Fact: neutral.Input},
			{Field: "tool_use_id", Fact: neutral.Call},
			{Field: "tool_response", Fact: neutral.Result},
			{Field: "duration_ms", Fact: neutral.Took},
			{Field: "permission_suggestions", Fact: neutral.Suggestions},
			{Field: "error", Fact: neutral.ErrorText, Events: "PostToolUseFailure"},
			{Field: "is_interrupt", Fact: neutral.Interrupted},
			{Field: "error", Fact: neutral.ErrorType, Events: "StopFailure"},
			{Field: "error_details", Fact: neutral.ErrorText, Events: "StopFailure"},
			{Field: "prompt", Fact: neutral.Prompt},
			{Field: "stop_hook_active", Fact: neutral.Looped},
			{Field: "last_assistant_message", Fact: neutral.Answer},
			{Field: "source", Fact: neutral.Source},
			{Field: "reason", Fact: neutral.Reason},
			{Field: "trigger", Fact: neutral.Trigger},
			{Field: "custom_instructions", Fact: neutral.Instructions},
			{Field: "compact_summary", Fact: neutral.Summary},
			{Field: "message", Fact: neutral.Text},
			{Field: "title", Fact: neutral.Title},
			{Field: "notification_type", Fact: neutral.NoticeType},
			{Field: "file_path", Fact: neutral.File},
		},
		Fixed:  []neutral.Fixed{{Events: "PostToolUseFailure StopFailure", Fact: neutral.Failed, Value: "true"}},
		Tools:  tools,
		Others: others,
	}
}

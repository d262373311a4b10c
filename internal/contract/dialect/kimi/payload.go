package kimi

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.FieldFact{
			{Field: "session_id", Fact: neutral.Session},
			{Field: "cwd", Fact: neutral.Cwd},
			{Field: "hook_event_name", Fact: neutral.Event},
			{Field: "tool_name", Fact: neutral.Tool},
			{Field: "tool_input", Fact: neutral.Input},
			{Field: "tool_call_id", Fact: neutral.Call},
			{Field: "tool_output", Fact: neutral.Result, Form: neutral.Flat},
			{Field: "error", Fact: neutral.ErrorText, Events: "PostToolUseFailure"},
			{Field: "error_type", Fact: neutral.ErrorType},
			{Field: "error_message", Fact: neutral.ErrorText},
			{Field: "prompt", Fact: neutral.Prompt, Form: neutral.Parts},
			{Field: "stop_hook_active", Fact: neutral.Looped},
			{Field: "agent_name", Fact: neutral.AgentType},
			{Field: "response", Fact: neutral.Answer},
			{Field: "source", Fact: neutral.Source},
			{Field: "model", Fact: neutral.Model},
			{Field: "reason", Fact: neutral.Reason},
			{Field: "notification_type", Fact: neutral.NoticeType},
			{Field: "title", Fact: neutral.Title},
			{Field: "body", Fact: neutral.Text},
		},
		Fixed: []neutral.Fixed{{Events: "PostToolUseFailure StopFailure", Fact: neutral.Failed, Value: "true"}},
		Tools: tools, Others: others,
	}
}

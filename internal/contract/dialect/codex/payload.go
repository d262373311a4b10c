package codex

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.FieldFact{
			{Field: "session_id", Fact: neutral.Session},
			{Field: "turn_id", Fact: neutral.Turn},
			{Field: "transcript_path", Fact: neutral.Transcript},
			{Field: "cwd", Fact: neutral.Cwd},
			{Field: "hook_event_name", Fact: neutral.Event},
			{Field: "model", Fact: neutral.Model},
			{Field: "permission_mode", Fact: neutral.Mode},
			{Field: "agent_id", Fact: neutral.AgentID},
			{Field: "agent_type", Fact: neutral.AgentType},
			{Field: "agent_transcript_path", Fact: neutral.AgentTranscript},
			{Field: "tool_name", Fact: neutral.Tool},
			{Field: "tool_use_id", Fact: neutral.Call},
			{Field: "tool_input", Fact: neutral.Input},
			{Field: "tool_response", Fact: neutral.Result},
			{Field: exitCode, Fact: neutral.Failed, Form: neutral.NotZero},
			{Field: "prompt", Fact: neutral.Prompt},
			{Field: "stop_hook_active", Fact: neutral.Looped},
			{Field: "last_assistant_message", Fact: neutral.Answer},
			{Field: "source", Fact: neutral.Source},
			{Field: "reason", Fact: neutral.Reason},
			{Field: "trigger", Fact: neutral.Trigger},
		},
		Fixed: []neutral.Fixed{{Events: "Interrupt", Fact: neutral.Interrupted, Value: "true"}},
		Tools: tools,
	}
}

package hermes

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
			{Field: "extra.result", Fact: neutral.Result},
			{Field: "extra.user_message", Fact: neutral.Prompt},
			{Field: "extra.assistant_response", Fact: neutral.Answer},
			{Field: "message", Fact: neutral.Prompt, Form: neutral.Preview},
			{Field: "response", Fact: neutral.Answer, Form: neutral.Preview},
			{Field: "user_id", Fact: neutral.Sender},
			{Field: "iteration", Fact: neutral.Step},
			{Field: "model", Fact: neutral.Model},
		},
		Tools: tools,
	}
}

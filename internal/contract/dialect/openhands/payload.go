package openhands

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.FieldFact{
			{Field: "session_id", Fact: neutral.Session},
			{Field: "working_dir", Fact: neutral.Cwd},
			{Field: "event_type", Fact: neutral.Event},
			{Field: "tool_name", Fact: neutral.Tool},
			{Field: "tool_input", Fact: neutral.Input},
			{Field: "tool_response", Fact: neutral.Result},
			{Field: "tool_output", Fact: neutral.Result},
			{Field: "message", Fact: neutral.Prompt},
		},
		Tools: tools,
	}
}

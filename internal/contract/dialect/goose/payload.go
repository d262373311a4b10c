package goose

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts. A tool is named
// EXTENSION__TOOL, and an MCP server is an extension, so no server is told for tools
// that hookd does not know.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.FieldFact{
			{Field: "session_id", Fact: neutral.Session},
			{Field: "working_dir", Fact: neutral.Cwd},
			{Field: "event", Fact: neutral.Event},
			{Field: "tool_name", Fact: neutral.Tool},
			{Field: "tool_input", Fact: neutral.Input},
			{Field: "tool_call_id", Fact: neutral.Call},
			{Field: "tool_output", Fact: neutral.Result},
			{Field: "message", Fact: neutral.Prompt},
			{Field: "last_assistant_message", Fact: neutral.Answer},
			{Field: "reason", Fact: neutral.Reason},
		},
		Fixed: []neutral.Fixed{{Events: "PostToolUseFailure", Fact: neutral.Failed, Value: "true"}},
		Tools: tools,
	}
}

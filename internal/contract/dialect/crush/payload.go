package crush

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts. The names of MCP tools are
// mcp_SERVER_TOOL, from which the server cannot be told.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.FieldFact{
			{Field: "session_id", Fact: neutral.Session},
			{Field: "cwd", Fact: neutral.Cwd},
			{Field: "event", Fact: neutral.Event},
			{Field: "tool_name", Fact: neutral.Tool, Events: "PreToolUse"},
			{Field: "tool_input", Fact: neutral.Input, Events: "PreToolUse"},
		},
		Tools: tools,
	}
}

package opencode

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts. The names of MCP tools are
// SERVER_TOOL, from which the server cannot be told.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.FieldFact{
			{Field: "sessionID", Fact: neutral.Session},
			{Field: "parentID", Fact: neutral.ParentSession},
			{Field: "cwd", Fact: neutral.Cwd},
			{Field: "agent", Fact: neutral.AgentName},
			{Field: "tool", Fact: neutral.Tool},
			{Field: "args", Fact: neutral.Input},
			{Field: "callID", Fact: neutral.Call},
			{Field: "output", Fact: neutral.Result},
			{Field: "prompt", Fact: neutral.Prompt},
			{Field: "error.data.message", Fact: neutral.ErrorText},
			{Field: "error.name", Fact: neutral.ErrorType},
			{Field: "file", Fact: neutral.File},
		},
		Tools: tools, Others: Others,
	}
}

package pi

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.FieldFact{
			{Field: "sessionId", Fact: neutral.Session},
			{Field: "cwd", Fact: neutral.Cwd},
			{Field: "toolName", Fact: neutral.Tool},
			{Field: "toolCallId", Fact: neutral.Call},
			{Field: "input", Fact: neutral.Input},
			{Field: "content", Fact: neutral.Result, Form: neutral.Flat},
			{Field: "isError", Fact: neutral.Failed},
			{Field: "text", Fact: neutral.Prompt},
			{Field: "answer", Fact: neutral.Answer},
			{Field: "status", Fact: neutral.Status},
			{Field: "error", Fact: neutral.ErrorText},
			{Field: "turnIndex", Fact: neutral.Step},
			{Field: "source", Fact: neutral.Source},
			{Field: "reason", Fact: neutral.Reason, Events: "session_shutdown"},
			{Field: "reason", Fact: neutral.Source, Events: "session_start"},
			{Field: "customInstructions", Fact: neutral.Instructions},
		},
		Tools: tools,
	}
}

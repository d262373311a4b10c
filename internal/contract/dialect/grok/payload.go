package grok

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.FieldFact{
			{Field: "hookEventName", Fact: neutral.Event, Words: eventWords},
			{Field: "sessionId", Fact: neutral.Session},
			{Field: "cwd", Fact: neutral.Cwd},
			{Field: "toolName", Fact: neutral.Tool},
			{Field: "toolInput", Fact: neutral.Input},
			{Field: "toolUseId", Fact: neutral.Call},
			{Field: "toolResponse", Fact: neutral.Result},
			{Field: "error", Fact: neutral.ErrorText},
			{Field: "prompt", Fact: neutral.Prompt},
			{Field: "message", Fact: neutral.Text},
		},
		Fixed: []neutral.Fixed{{Events: "PostToolUseFailure StopFailure", Fact: neutral.Failed, Value: "true"}},
		Tools: tools,
	}
}

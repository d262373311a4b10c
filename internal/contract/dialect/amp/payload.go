package amp

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.FieldFact{
			{Field: "threadID", Fact: neutral.Session},
			{Field: "cwd", Fact: neutral.Cwd},
			{Field: "tool", Fact: neutral.Tool},
			{Field: "input", Fact: neutral.Input},
			{Field: "toolUseID", Fact: neutral.Call},
			{Field: "output", Fact: neutral.Result},
			{Field: "error", Fact: neutral.ErrorText},
			{Field: "message", Fact: neutral.Prompt, Events: "agent.start"},
		},
		Tools: tools,
	}
}

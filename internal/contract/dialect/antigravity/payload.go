package antigravity

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.FieldFact{
			{Field: "conversationId", Fact: neutral.Session},
			{Field: "modelName", Fact: neutral.Model},
			{Field: "transcriptPath", Fact: neutral.Transcript},
			{Field: "workspacePaths.0", Fact: neutral.Cwd},
			{Field: "toolCall.name", Fact: neutral.Tool},
			{Field: "toolCall.args", Fact: neutral.Input},
		},
		Tools: tools,
	}
}

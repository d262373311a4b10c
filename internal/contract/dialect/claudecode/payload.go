package claudecode

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts.
func Table() neutral.Table {
	t := neutral.SharedTable(tools, "PostToolUseFailure StopFailure")
	t.Rows = append(t.Rows, neutral.FieldFact{Field: "turn_id", Fact: neutral.Turn})
	t.Others = others
	return t
}

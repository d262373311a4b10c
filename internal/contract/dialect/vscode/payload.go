package vscode

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts. Documents and versions differ in
// the names of the session and the event.
func Table() neutral.Table {
	table := neutral.SharedTable(tools, "")
	table.Rows = append(table.Rows,
		neutral.FieldFact{Field: "sessionId", Fact: neutral.Session},
		neutral.FieldFact{Field: "hookEventName", Fact: neutral.Event})
	return table
}

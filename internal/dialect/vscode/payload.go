package vscode

import "github.com/hookd/hookd/internal/dialect/neutral"

// Table says where its payloads hold what. Older versions call the session sessionId.
func Table() neutral.Table {
	table := neutral.SharedTable(tools, "")
	table.Rows = append(table.Rows, neutral.Row{Field: "sessionId", Fact: neutral.Session})
	return table
}

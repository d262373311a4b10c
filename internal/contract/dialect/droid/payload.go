package droid

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says where its payloads hold what.
func Table() neutral.Table {
	return neutral.SharedTable(tools, "")
}

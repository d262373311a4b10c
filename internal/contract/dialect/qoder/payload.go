package qoder

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts.
func Table() neutral.Table {
	return neutral.SharedTable(tools, "PostToolUseFailure StopFailure")
}

package qwen

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts.
func Table() neutral.Table {
	t := neutral.SharedTable(tools, "PostToolUseFailure StopFailure")
	t.Others = others
	return t
}

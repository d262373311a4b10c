package deepagents

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts.
func Table() neutral.Table {
	return neutral.Table{Rows: []neutral.FieldFact{
		{Field: "thread_id", Fact: neutral.Session},
		{Field: "event", Fact: neutral.Event},
	}}
}

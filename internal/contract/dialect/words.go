package dialect

import (
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// Words returns the words of every dialect whose name the given one is for an
// event with contract c: a hook answers as the agents do that have the name. The
// agent that emitted the event comes first.
func Words(c *events.Contract, given string) []verdict.Word {
	var list []verdict.Word
	rows := append([]*events.Contract{c}, c.Aliases()...)
	var done []events.Dialect
	for _, row := range rows {
		if row.Name != given || slices.Contains(done, row.Dialect) {
			continue
		}
		done = append(done, row.Dialect)
		system := find(row.Dialect)
		if system == nil || system.Words == nil {
			continue
		}
		for _, w := range system.Words() {
			if w.Events == "" || slices.Contains(strings.Fields(w.Events), given) {
				list = append(list, w)
			}
		}
	}
	return list
}

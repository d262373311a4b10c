package match

import (
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
)

// noCase is why a hook does not run whose event names are for other cases only.
const noCase = "the names that its patterns match stand for special events of the kind, and this is another"

// suiting returns m with a name that fits e: a name for special events of its kind
// (PostToolUseFailure, beforeShellExecution) is used for those alone. For other events
// the hook gets the next name that one of its patterns matches; without one, ok is
// false. The emitted name always fits.
func (m Match) suiting(e *events.Event) (_ Match, ok bool) {
	if m.Given == e.Contract.Name || !events.Special(m.Given) || fits(m.Given, e) {
		return m, true
	}
	var names []*events.Contract
	for _, row := range kindNames(e.Contract) {
		if row == e.Contract || dialect.Stands(row, e) {
			names = append(names, row)
		}
	}
	other, ok := matchNames(m.Hook, e.Contract, names)
	other.Generation = m.Generation
	return other, ok
}

// fits reports whether e is one of the events that the row called name is for.
func fits(name string, e *events.Event) bool {
	for _, row := range e.Contract.Aliases() {
		if row.Name == name && dialect.Stands(row, e) {
			return true
		}
	}
	return false
}

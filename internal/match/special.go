package match

import (
	"github.com/hookd/hookd/internal/dialect"
	"github.com/hookd/hookd/internal/events"
)

// noCase is why a hook does not run whose names stand for other events only.
const noCase = "the names that its patterns match stand for special events of the kind, and this is another"

// suiting returns m as e has it: a name that stands for special events of its
// kind (PostToolUseFailure, beforeShellExecution) is given for those alone. For
// others the hook is given the next name that a pattern of it matches; without
// one, ok is false. The emitted name always suits.
func (m Match) suiting(e *events.Event) (_ Match, ok bool) {
	if m.Given == e.Contract.Name || !events.Special(m.Given) || stands(m.Given, e) {
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

// stands reports whether a row called name stands for e.
func stands(name string, e *events.Event) bool {
	for _, row := range e.Contract.Aliases() {
		if row.Name == name && dialect.Stands(row, e) {
			return true
		}
	}
	return false
}

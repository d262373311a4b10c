package dialect

import (
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Stands reports whether row's name, which is one of e's kind, stands for e: a row may
// be about calls that failed, or about some tools, alone. A call whose tool is not
// known by a canonical name is of none of these tools.
func Stands(row *events.Contract, e *events.Event) bool {
	if row.Failed && !failed(e) {
		return false
	}
	isMeant := func(tool string) bool { return about(row.Tools, tool) }
	return row.Tools == "" || slices.ContainsFunc(ToolNames(e), isMeant)
}

// failed reports whether e is about a call that failed.
func failed(e *events.Event) bool {
	if e.Contract.Failed {
		return true
	}
	f := Facts(e)
	outcome(f)
	return string(f[neutral.Failed]) == "true"
}

func about(tools, tool string) bool {
	for t := range strings.FieldsSeq(tools) {
		if prefix, ok := strings.CutSuffix(t, "*"); t == tool || ok && strings.HasPrefix(tool, prefix) {
			return true
		}
	}
	return false
}

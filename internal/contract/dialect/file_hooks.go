package dialect

import (
	"encoding/json"

	"github.com/hookd/hookd/internal/contract/dialect/dockeragent"
	"github.com/hookd/hookd/internal/contract/dialect/librefang"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// common are the rules of hook folders, and of files whose system has no others.
var common = neutral.Rules{
	Agent: dockeragent.Agent, Place: neutral.PlaceOf, Conversation: neutral.SessionOf,
}

// EventData returns payload as the value of the variable HOOK_EVENT_DATA, and
// whether that is only its beginning.
func EventData(payload json.RawMessage) (value string, truncated bool) {
	return librefang.EventData(payload, librefang.EventDataLimit)
}

// Rules returns the rules of hooks that the files of system d define; "" = of
// hook folders.
func Rules(d events.Dialect) *neutral.Rules {
	if s := find(d); s != nil && s.Rules != nil {
		return s.Rules
	}
	return &common
}

// Observed returns the row by which the answer of a hook is read that is given
// name, which it is where no other name fits; nil = it is a name like any other.
func Observed(name string) *events.Contract {
	for s := range entries() {
		if s.Observes {
			if row := events.LookupIn(s.Name, name); row != nil {
				return row
			}
		}
	}
	return nil
}

// Package hookd holds the contract of the daemon's own events, which no agent sends.
package hookd

import (
	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is what the index of package dialect lists. No agent sends its events.
func System() neutral.System { return neutral.System{Name: events.Hookd, Events: Rows} }

// Rows are the daemon's own events.
func Rows() []events.Contract {
	return []events.Contract{
		{Name: events.EventReload, When: "the set of hooks was read again and has changed"},
		{Name: events.EventHookChanged, When: "one hook was added, changed, removed or rejected"},
		{Name: events.EventStop, When: "the daemon stops (subscribers only)"},
	}
}

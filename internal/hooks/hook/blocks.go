package hook

import (
	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// Blocks reports whether the hook takes part in the verdict of an event that was
// emitted with contract c and that matched pattern p. Without a setting it does if the
// event is decidable and the pattern names it exactly, so a logging hook on `*` can
// never deny anything. All other hooks only observe.
func (h *Hook) Blocks(c *events.Contract, p pattern.Pattern) bool {
	if h.Blocking != nil {
		return *h.Blocking && c.Decidable
	}
	return c.Decidable && p.Exact()
}

// DecidesByName reports whether the hook takes part in the verdict of any event that is
// known. In the shadow it takes part in none.
func (h *Hook) DecidesByName() bool {
	if h.Shadow {
		return false
	}
	for _, p := range h.Patterns {
		for c := range events.Rows() {
			if p.Match(c.Name) && h.Blocks(c, p) {
				return true
			}
		}
	}
	return false
}

// Failure returns the consequence of a failure of the hook: FailureDenies if a failure denies any
// known event. "" = the hook decides nothing.
func (h *Hook) Failure() (f wire.Failure) {
	if h.Shadow {
		return ""
	}
	for _, p := range h.Patterns {
		for c := range events.Rows() {
			switch {
			case !p.Match(c.Name) || !h.Blocks(c, p):
			case c.FailClosed && !h.OnErrorAlone, c.CanBlock && h.OnError == OnErrorDeny:
				return wire.FailureDenies
			default:
				f = wire.FailurePasses
			}
		}
	}
	return f
}

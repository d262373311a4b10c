package events

// The daemon's own events. They reach only patterns that begin with hookd:
// (SPEC section 4), and hookd:stop reaches subscribers only.
const (
	EventReload      = "hookd:reload"
	EventHookChanged = "hookd:hook-changed"
	EventStop        = "hookd:stop"
)

func hookdRows() []Contract {
	return []Contract{
		{Name: EventReload, When: "the set of hooks was read again and has changed"},
		{Name: EventHookChanged, When: "one hook was added, changed, removed or rejected"},
		{Name: EventStop, When: "the daemon stops (subscribers only)"},
	}
}

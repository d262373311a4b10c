package events

// EventStartup is LibreFang's daemon.start event, which hookd emits when its
// own boot is done.
const EventStartup = "gateway:startup"

// The daemon's own events. They reach only patterns that begin with hookd:, and
// hookd:stop reaches subscribers only.
const (
	EventReload      = "hookd:reload"
	EventHookChanged = "hookd:hook-changed"
	EventAsk         = "hookd:ask"
	EventGuardGone   = "hookd:guard-gone"
	EventAnswered    = "hookd:answered"
	EventDisobeyed   = "hookd:disobeyed"
	EventUnguarded   = "hookd:unguarded"
	EventDecided     = "hookd:decided"
	EventStop        = "hookd:stop"
)

package neutral

import (
	"encoding/json"

	"github.com/hookd/hookd/internal/events"
)

// Guest says how an agent runs the hooks in the settings of another agent, its host,
// after its own: then the bridge is called twice for one event.
type Guest struct {
	Host events.Dialect // whose settings
	// Sent reports whether the agent has sent a payload to a hook of the host's settings.
	Sent func(payload json.RawMessage) bool
	// Named returns the event of such a payload in the agent's own form; "" = it has
	// the host's form. Nil = it always has that.
	Named func(payload json.RawMessage) string
	// When tells the event of a payload from others of its session, the same in both
	// calls; "" = it cannot be told. row is the event's.
	When func(payload json.RawMessage, row *events.Contract) string
}

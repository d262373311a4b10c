package neutral

import (
	"encoding/json"

	"github.com/hookd/hookd/internal/events"
)

// Guest says how an agent runs the hooks in the settings of other agents, its hosts,
// beside its own: then the bridge is called twice for one event.
type Guest struct {
	Hosts []events.Dialect // whose settings
	// Sent reports whether the agent has sent a payload to a hook of a host's settings.
	// getenv reads the hook's environment.
	Sent func(payload json.RawMessage, getenv func(string) string) bool
	// Named returns the event of such a payload in the agent's own form; "" = it has
	// the host's form. Nil = it always has that.
	Named func(payload json.RawMessage) string
	// When tells the event of a payload from others of its session, the same in both
	// calls; "" = it cannot be told. row is the event's.
	When func(payload json.RawMessage, row *events.Contract) string
}

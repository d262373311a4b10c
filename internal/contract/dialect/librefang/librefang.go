// Package librefang holds the parts of a hook's process that LibreFang's documented
// contract fixes: the size and shape of HOOK_EVENT_DATA and of previews. It promises
// that each result is valid JSON within the limit, the same for the same input, in time
// and memory that grow with the input alone. It does not choose a hook's payload, spell
// its environment or write files, and never blocks.
package librefang

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.LibreFang, Events: Rows, Agent: Bridge, Settings: Settings, Observes: true,
		Probe: "transform_tool_result", Probes: probes,
	}
}

// EventDataLimit is the size in bytes up to which HOOK_EVENT_DATA is the
// whole payload. Linux takes at most 128 KiB for one variable.
const EventDataLimit = 96 << 10

// Bridge is LibreFang as the bridge serves it: a HOOK.yaml of LibreFang's own
// whose command is the bridge. LibreFang reads no answer but a new tool result.
func Bridge() neutral.Agent {
	return neutral.Agent{
		Table: Table(), Timeout: neutral.Always(5 * time.Second), Answer: Answer, Fill: fill, Nulls: true,
		Variables: neutral.Variables{Event: "HOOK_EVENT", Data: "HOOK_EVENT_DATA"},
	}
}

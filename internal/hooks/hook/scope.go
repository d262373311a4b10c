package hook

import "strings"

// Scope says on which machines of a fleet a hook runs for an event. Where the machine is in
// no fleet it runs here, whatever its scope.
type Scope string

const (
	ScopeLocal Scope = ""      // on the machine of the event
	ScopeFleet Scope = "fleet" // on one machine of those that have the hook
	ScopeEvery Scope = "every" // on each machine that has the hook
)

// Text is the scope as HOOK.yaml has it.
func (s Scope) Text() string {
	if s == ScopeLocal {
		return "local"
	}
	return string(s)
}

// sendPrefix begins the name of the hooks that Sender returns.
const sendPrefix = "send:"

// Sender returns the hook that sends the events of h to the fleet: for the same events as
// h, and with a record of its own. The cost of a run of h does not matter to the sender.
func (h *Hook) Sender() *Hook {
	s := *h
	s.ID, s.Name, s.Type, s.Command = sendPrefix+h.ID, sendPrefix+h.Name, Send, "to the fleet"
	s.Path, s.Args, s.ScriptText, s.Template, s.Seal = "", nil, "", nil, nil
	s.Persistent, s.Warm, s.Concurrency, s.Debounce, s.Throttle = false, nil, 0, 0, Rate{}
	s.Order, s.Timeout, s.Retry, s.Definition = OrderSession, MaxTimeout, sendRetry, ""
	return &s
}

// SentFor is the name of the hook that a Sender sends for.
func (h *Hook) SentFor() string { return strings.TrimPrefix(h.Name, sendPrefix) }

// sendRetry is for failures that are not the hook's fault: a message that the fleet refuses is a
// dead letter at once, one for which there is no room is tried again without it.
var sendRetry = Retry{Max: 1, Backoff: 1}

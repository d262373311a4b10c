package neutral

import (
	"encoding/json"

	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// Rules are the differences for the hooks that one system's own files define. All
// functions are pure.
type Rules struct {
	// Agent returns the agent whose own hooks run for e; "" = none.
	Agent func(e *events.Event) string
	// Place returns the directory that e happened in; "" = unknown.
	Place func(e *events.Event) string
	// Conversation returns the conversation that e is a part of: a hook runs for the events
	// of a conversation in their order, and finds there the output of earlier hooks. "" =
	// of none.
	Conversation func(e *events.Event) string
	// Payload returns data as a hook is given it. Nil = as it is.
	Payload func(data json.RawMessage) json.RawMessage
	// Variables returns the values that the variables of a template stand for: of an event
	// whose payload the hook is given under the name given, and the output of earlier
	// hooks. Nil = there are no templates.
	Variables func(e *events.Event, given string, payload json.RawMessage, output string) (
		value func(name string) (text string, known bool))
	// Chained: the hooks of one file run one after another, and a hook can stop the hooks
	// after it.
	Chained bool
	// Read reads the answer of one run of a hook for an event of c; capture tells
	// that the hook's stdout is for later hooks. Nil = the contract says how.
	Read func(c *events.Contract, p verdict.Terms, capture bool, out verdict.Output) Reading
}

// PlaceOf is the Place of most.
func PlaceOf(e *events.Event) string { return e.Cwd }

// SessionOf is the Conversation of most.
func SessionOf(e *events.Event) string { return e.SessionID }

// Reading is the result of the answer of a run by the rules of its hook.
type Reading struct {
	verdict.Answer
	Failure string      // why the run failed, in words for people; "" = it did not
	Silent  bool        // its failure is not worth a warning
	Aborts  bool        // no later hook of the same file runs
	Output  string      // for later hooks of the conversation; "" = nothing
	Result  wire.Result // of a run that came to an end by itself
}

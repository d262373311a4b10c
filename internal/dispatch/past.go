package dispatch

import (
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// Past learns of each event that is of this machine and was not sent before, in the order
// in which they come, for hooks that look back. It must not block: verdicts wait for it.
type Past interface {
	// ByAgent reports whether e is of a subagent, or a prompt that no person has typed. It is told of each event
	// that starts a session or a subagent, and of each prompt.
	ByAgent(e *events.Event) bool
	// Looks reports whether a hook looks back, and such events may matter to it.
	Looks(c *events.Contract) bool
	// Begin gives e its place behind the events that have one, and sets e.Before if hooks run for
	// e. It must not retain e or its data. end is called once with the decision about e; nil = it does not
	// matter.
	Begin(e *events.Event, runs bool) (end func(wire.Outcome))
}

// noPast is the Past of a Dispatcher that has none.
type noPast struct{}

func (noPast) ByAgent(e *events.Event) bool                 { return dialect.ByAgent(e) }
func (noPast) Looks(*events.Contract) bool                  { return false }
func (noPast) Begin(*events.Event, bool) func(wire.Outcome) { return nil }

// beginPast tells the Past of e. The result is called once with the decision; it is not nil.
func (ac *acceptor) beginPast(e *events.Event, again *replay, runs bool) func(wire.Outcome) {
	if again == nil && !e.Trial && ac.opts.Past.Looks(e.Contract) {
		if end := ac.opts.Past.Begin(e, runs); end != nil {
			return end
		}
	}
	return func(wire.Outcome) {}
}

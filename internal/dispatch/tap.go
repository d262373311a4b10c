package dispatch

import (
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// Tap observes events, runs and verdicts, for metrics and traces. It must not block: it
// stands between the hook and the answer.
type Tap interface {
	// Accepted is called once for each event that will not be refused any
	// more, maybe after its first run has ended. e must not be kept.
	Accepted(e *events.Event, matched int)
	// Ran is called for each attempt at a run when it has ended; err is why it
	// did not start, where the system said so. It may end before its late
	// output is in.
	Ran(e *events.Event, r wire.Run, err error)
	// Decided is called with the verdict that e's sender is about to get, and how
	// its question was answered; nil = there was none.
	Decided(e *events.Event, v *verdict.Verdict, a *wire.Answered)
}

// quiet is a Tap that does not see events that a person only tries.
type quiet struct{ tap Tap }

func tried(e *events.Event) bool { return e.Trial || e.Tried }

func (q quiet) Accepted(e *events.Event, matched int) {
	if !tried(e) {
		q.tap.Accepted(e, matched)
	}
}

func (q quiet) Ran(e *events.Event, r wire.Run, err error) {
	if !tried(e) {
		q.tap.Ran(e, r, err)
	}
}

func (q quiet) Decided(e *events.Event, v *verdict.Verdict, a *wire.Answered) {
	if !tried(e) {
		q.tap.Decided(e, v, a)
	}
}

// noTap is the Tap of a Dispatcher that has none.
type noTap struct{}

func (noTap) Accepted(*events.Event, int)                             {}
func (noTap) Ran(*events.Event, wire.Run, error)                      {}
func (noTap) Decided(*events.Event, *verdict.Verdict, *wire.Answered) {}

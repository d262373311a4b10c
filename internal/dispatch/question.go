package dispatch

import (
	"time"

	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/wire"
)

// Question is a verdict that asks a person about a call.
type Question struct {
	Event   *events.Event
	Verdict *verdict.Verdict
	Asking  []Asking   // in registration order; never empty
	Sender  int        // process id of the sender; 0 = unknown
	Handle  Handle     // of the sender; nil = there is none
	Undo    *wire.Kept // what can be taken back of the call; nil = it destroys nothing that is known
	// Until is when the sender waits no longer; zero = it has set no limit.
	Until time.Time
}

// Asking is a hook that asks, and why.
type Asking struct {
	Hook   *hook.Hook
	Reason string
	Span   [2]int // of the call's text, that made it ask, as in wire.Run; zero = the whole, or it names none
}

// Asks answers verdicts that ask. Its methods are called without a slot.
type Asks interface {
	// Takes reports whether Await would look for an answer now. It does not wait.
	Takes(q *Question) bool
	// Await returns the verdict in place of q.Verdict, and the outcome of the
	// question; nil = it goes to the agent, as it would without hookd. It may wait
	// until q.Until, and returns when the daemon stops.
	Await(q *Question) (*verdict.Verdict, *wire.Answered)
	// Permit returns the permit of a person with which a call passes that hooks deny, and uses it;
	// nil = there is none. It waits a bounded time until its use is on disk.
	Permit(e *events.Event, denying []*hook.Hook) *wire.Answered
	// Identify returns a digest that is the same for the same call; "" = it cannot be compared.
	Identify(e *events.Event) string
}

// noAsks leaves each question to the agent.
type noAsks struct{}

func (noAsks) Takes(*Question) bool                                 { return false }
func (noAsks) Permit(*events.Event, []*hook.Hook) *wire.Answered    { return nil }
func (noAsks) Identify(*events.Event) string                        { return "" }
func (noAsks) Await(q *Question) (*verdict.Verdict, *wire.Answered) { return q.Verdict, nil }

// withQuestion returns v, as a question where it wants a box that cannot be. It also returns the question of v
// if hookd will look for an answer; else nil.
func (vs *verdicts) withQuestion(
	e *events.Event, v *verdict.Verdict, done []*attempt, sender Origin,
) (*verdict.Verdict, *Question) {
	v, why := vs.containable(e, v)
	return v, vs.question(e, v, done, sender, why)
}

// question returns the question of v, if hookd will look for an answer; else nil. uncontained says why a
// call is asked about that was to be contained; "" = it was not.
func (vs *verdicts) question(
	e *events.Event, v *verdict.Verdict, done []*attempt, sender Origin, uncontained string,
) *Question {
	if !v.Asks() {
		return nil
	}
	q := &Question{Event: e, Verdict: v, Sender: sender.PID, Handle: sender.Handle}
	for _, a := range done {
		outcome, reason := a.answer.Says(a.contract)
		if outcome == wire.OutcomeContain && uncontained != "" {
			outcome, reason = wire.OutcomeAsk, verdict.Because(reason, uncontained)
		}
		if outcome == wire.OutcomeAsk {
			q.Asking = append(q.Asking, Asking{Hook: a.match.Hook, Reason: reason, Span: a.run.Span})
		}
	}
	if e.TimeoutMS > 0 {
		q.Until = e.Time.Add(time.Duration(e.TimeoutMS) * time.Millisecond)
	}
	if len(q.Asking) == 0 || !vs.opts.Asks.Takes(q) {
		return nil
	}
	return q
}

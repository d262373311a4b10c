package dispatch

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match"
	"github.com/hookd/hookd/wire"
)

// Trial is everything that one hook did for one event.
type Trial struct {
	Event   *events.Event
	Job     *Job     // nil when it got no slot in time, or was not to run
	Run     wire.Run // the zero Run when it was not to run
	Why     string   // why the hook would not run for this event; "" = it would
	Blocks  bool     // its answer counts
	Warning string   // something odd about its answer
	Verdict *verdict.Verdict

	Decision wire.Outcome // what Verdict is, in a word
	Reason   string       // of Decision, without secrets
	Rewrote  []string     // of input, result, messages, context
}

// trials try one hook alone.
type trials struct {
	*lifetime
	verdicts  *verdicts
	tracker   *callTracker
	records   *runRecords
	snapshots *snapshots
	chain     *chain

	tried atomic.Pointer[match.Single] // of the hook that was tried last
}

// Try runs h now, whether it matches the event or not, and records the run as a
// test, which the Tap does not see.
// The event reaches no other hook. A hook that asks for it stands in its chain as
// if it had sent the event.
func (d *Dispatcher) Try(ctx context.Context, from Origin, h *hook.Hook, env events.Envelope) (Trial, *wire.Error) {
	return d.trials.try(ctx, from, h, env, time.Time{}, true)
}

// Rehearse is Try of a hook that only runs where its definition admits the event. at is
// when the event was; the zero time is now. An event of the past, whose asker has its
// tool and subject, has none in the Trial. The caller tells env.Past the events before it,
// and its fate.
func (d *Dispatcher) Rehearse(
	ctx context.Context,
	from Origin,
	h *hook.Hook,
	env events.Envelope,
	at time.Time,
) (Trial, *wire.Error) {
	return d.trials.try(ctx, from, h, env, at, false)
}

func (tr *trials) try(
	ctx context.Context,
	from Origin,
	h *hook.Hook,
	env events.Envelope,
	at time.Time,
	always bool,
) (Trial, *wire.Error) {
	if !tr.enter() {
		return Trial{}, errDraining
	}
	defer tr.pending.Done()
	now := time.Now()
	depth, err := tr.chain.depth(from, env.Parent, now)
	if err != nil {
		return Trial{}, err
	}
	e := &events.Event{
		Envelope: env,
		EventID:  events.NewID(now),
		Time:     cmp.Or(at, now).UTC(),
		Depth:    depth,
		Trial:    true,
		Contract: events.For(env.Dialect, env.Event),
	}
	e.Dialect = cmp.Or(e.Dialect, e.Contract.Dialect)
	if at.IsZero() { // the past has both, and finding them takes a tenth of a rehearsal
		tr.tracker.about(e)
	}
	e.Project = tr.snapshots.projectOf(tr.snapshots.index.Load(), e.Cwd, now)
	if past, is := env.Past.(Past); is {
		e.CallID, e.ByAgent = dialect.CallID(e), past.ByAgent(e)
		past.Begin(e, true)
	}
	m, why := tr.single(h).Match(e)
	m = m.Enforced()
	m.Shadow = false
	t := Trial{Event: e, Why: why, Blocks: m.Blocks, Decision: wire.OutcomeNone}
	if why != "" && !always {
		return t, nil
	}
	contract := *e.Contract
	if match.Lane(h) == events.LanePreempt {
		contract = contract.Preempt()
	}
	lane := decidingLane{
		d: tr.verdicts, ctx: ctx, event: e, contract: &contract, until: now.Add(h.Timeout + grace),
		slots: tr.verdicts.slots,
	}
	a := lane.attempt(m, e.Data)
	if a.run.Result == wire.ResultInterrupted {
		return Trial{}, errDraining
	}
	t.Job, t.Run, t.Warning = a.job, a.run, a.answer.Warning
	if a.out.Late != nil {
		t.Run.Stdout, t.Run.Stderr = a.out.Late()
	}
	t.Verdict = verdict.Fold(&contract, e.Data, []verdict.Answer{a.answer})
	t.Decision, t.Reason = outcomeOf(t.Verdict)
	t.Reason, t.Rewrote = tr.records.clean(t.Reason), rewrote(t.Verdict)
	return t, nil
}

// single returns the matcher that finds whether h runs for an event: the last hook's, if h is
// that hook, as one hook is mostly asked about many events.
func (tr *trials) single(h *hook.Hook) *match.Single {
	s := tr.tried.Load()
	if s == nil || s.Hook() != h {
		s = match.NewSingle(h, tr.opts.Links)
		tr.tried.Store(s)
	}
	return s
}

package dispatch

import (
	"cmp"
	"context"
	"time"

	"github.com/hookd/hookd/internal/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/match"
	"github.com/hookd/hookd/internal/verdict"
)

// Trial is everything that one hook did for one event.
type Trial struct {
	Job     *Job // nil when it got no slot in time
	Run     events.Run
	Why     string // why the hook would not run for this event; "" = it would
	Blocks  bool   // its answer counts
	Warning string // something odd about its answer
	Verdict *verdict.Verdict
}

// Try runs h now, whether it matches the event or not, and records the run as a
// test, which the Tap is not told of.
// The event reaches no other hook. A hook that asks for it stands in its chain as
// if it had sent the event.
func (d *Dispatcher) Try(ctx context.Context, from Origin, h *hook.Hook, env events.Envelope) (Trial, *events.Error) {
	if !d.enter() {
		return Trial{}, errDraining
	}
	defer d.pending.Done()
	now := time.Now()
	depth, err := d.chain.depth(from, env.Parent, now)
	if err != nil {
		return Trial{}, err
	}
	e := &events.Event{
		Envelope: env,
		EventID:  events.NewID(now),
		Time:     now.UTC(),
		Depth:    depth,
		Trial:    true,
		Contract: events.For(env.Dialect, env.Event),
	}
	e.Dialect = cmp.Or(e.Dialect, e.Contract.Dialect)
	e.Tool, e.Subject = dialect.Subject(e, d.opts.Redact)
	e.Project = d.projectOf(d.index.Load(), e.Cwd)
	m, why := match.One(h, e)
	contract := *e.Contract
	if match.Lane(h) == events.LanePreempt {
		contract = contract.Preempt()
	}
	lane := decidingLane{d: d, ctx: ctx, event: e, contract: &contract, until: now.Add(h.Timeout + grace)}
	a := lane.ask(m, e.Data)
	t := Trial{Job: a.job, Run: a.run, Why: why, Blocks: m.Blocks, Warning: a.answer.Warning}
	if a.out.Late != nil {
		t.Run.Stdout, t.Run.Stderr = a.out.Late()
	}
	t.Verdict = verdict.Fold(&contract, e.Data, []verdict.Answer{a.answer})
	return t, nil
}

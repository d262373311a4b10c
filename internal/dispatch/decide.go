package dispatch

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/verdict"
)

// grace is how long past the budget an answer waits for the records of runs
// that were just killed. A run that is not back by then counts as timed out.
const grace = 250 * time.Millisecond

// startTime is added to a budget that the sender did not set: a hook's deadline
// counts from the start of its process, which takes a moment to get there.
const startTime = 100 * time.Millisecond

// allowed is the verdict on an event that nobody decides.
func allowed() *verdict.Verdict { return &verdict.Verdict{Allowed: true, Continue: true} }

// decide runs the hooks that decide e and folds their answers. The preempt
// lane goes first, and a deny or ask of it skips the other (SPEC section 9).
func (d *Dispatcher) decide(e *events.Event, ms []match) (*verdict.Verdict, []ran) {
	var preempt, rest []match
	for _, m := range ms {
		if laneOf(m.hook) == events.LanePreempt {
			preempt = append(preempt, m)
		} else {
			rest = append(rest, m)
		}
	}
	main := *e.Contract
	first := main.Preempt()
	ctx, cancel := context.WithTimeout(d.ctx, budget(e, &main, preempt, rest))
	defer cancel()
	if len(preempt) == 0 {
		done := d.lane(ctx, e, &main, rest)
		return verdict.Fold(&main, e.Data, answers(done)), done
	}
	done := d.lane(ctx, e, &first, preempt)
	v := verdict.Fold(&first, e.Data, answers(done))
	if len(rest) == 0 || v.Skips() {
		return v, done
	}
	more := d.lane(ctx, e, &main, rest)
	return v.Then(verdict.Fold(&main, e.Data, answers(more))), append(done, more...)
}

// budget is the time that all of an event's hooks have together: what the
// sender says, else the largest deadline of what runs side by side, or the sum
// of what runs in sequence.
func budget(e *events.Event, c *events.Contract, preempt, rest []match) time.Duration {
	if e.TimeoutMS > 0 {
		return time.Duration(e.TimeoutMS) * time.Millisecond
	}
	return longest(preempt, false) + longest(rest, c.Sequence) + startTime
}

func longest(ms []match, sequence bool) (most time.Duration) {
	chains := chains(ms)
	if sequence {
		chains = [][]match{ms}
	}
	for _, chain := range chains {
		var sum time.Duration
		for _, m := range chain {
			sum += m.hook.Timeout
		}
		most = max(most, sum)
	}
	return most
}

// chains splits hooks into those that must run one after another: the hooks of
// one AGENT.md do, in file order; each other hook is a chain of its own.
func chains(ms []match) (list [][]match) {
	at := map[hook.Source]int{}
	for _, m := range ms {
		if i, ok := at[m.hook.Source]; ok && m.chained() {
			list[i] = append(list[i], m)
			continue
		}
		at[m.hook.Source] = len(list)
		list = append(list, []match{m})
	}
	return list
}

// chained reports whether an abort of an earlier hook of the same file stops
// this one (seed 001, SPEC section 10).
func (m match) chained() bool { return m.hook.Dialect == events.Familiar }

// lane runs the hooks of one lane, in sequence or side by side as c says, and
// returns what ran in registration order.
func (d *Dispatcher) lane(ctx context.Context, e *events.Event, c *events.Contract, ms []match) []ran {
	if c.Sequence {
		return d.sequence(ctx, e, c, ms)
	}
	return d.parallel(ctx, e, c, ms)
}

// sequence runs one hook after another, each seeing the rewrites so far.
// A denial does not stop the rest: every hook sees every event.
func (d *Dispatcher) sequence(ctx context.Context, e *events.Event, c *events.Contract, ms []match) (done []ran) {
	data := e.Data
	for _, m := range ms {
		if aborted(done, m) {
			continue
		}
		r := d.limited(ctx, m, func() ran { return d.asked(ctx, e, c, m, data) })
		done = append(done, r)
		if c.FirstWins && r.answer.Replaces(c) {
			break
		}
		data = r.answer.Rewrite(c, data)
	}
	return done
}

func (d *Dispatcher) parallel(ctx context.Context, e *events.Event, c *events.Contract, ms []match) (done []ran) {
	chains := chains(ms)
	waits := make([]chan []ran, len(chains))
	for i, chain := range chains {
		waits[i] = make(chan []ran, 1)
		go func() { waits[i] <- d.inOrder(ctx, e, c, chain) }()
	}
	for i := range chains {
		done = append(done, <-waits[i]...)
	}
	slices.SortStableFunc(done, func(a, b ran) int { return a.match.at - b.match.at })
	return done
}

func (d *Dispatcher) inOrder(ctx context.Context, e *events.Event, c *events.Contract, chain []match) (done []ran) {
	for _, m := range chain {
		if !aborted(done, m) {
			done = append(done, d.limited(ctx, m, func() ran { return d.asked(ctx, e, c, m, e.Data) }))
		}
	}
	return done
}

// aborted reports whether a run before it stops m.
func aborted(done []ran, m match) bool {
	return m.chained() && slices.ContainsFunc(done, func(r ran) bool { return r.aborts && r.match.hook.Source == m.hook.Source })
}

// ran is a run and how it answered.
type ran struct {
	match  match
	run    events.Run
	answer verdict.Answer
	aborts bool    // no later hook of the same file runs
	warn   bool    // its failure is worth a WARN
	job    *Job    // nil when it never came to that
	out    Outcome // of the job
}

func answers(done []ran) []verdict.Answer {
	list := make([]verdict.Answer, len(done))
	for i, r := range done {
		list[i] = r.answer
	}
	return list
}

func runs(done []ran) []events.Run {
	list := make([]events.Run, len(done))
	for i, r := range done {
		list[i] = r.run
	}
	return list
}

// limited returns what do returns, or a timed-out run when do is not back
// shortly after ctx has ended; do goes on and records itself.
func (d *Dispatcher) limited(ctx context.Context, m match, do func() ran) ran {
	done := make(chan ran, 1)
	d.pending.Add(1)
	go func() { defer d.pending.Done(); done <- do() }()
	select {
	case r := <-done:
		return r
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case r := <-done:
		return r
	case <-timer.C:
		why := "still runs after its deadline and the kill"
		return ran{
			match:  m,
			run:    events.Run{Hook: m.hook.Name, Result: events.ResultTimeout, ExitCode: -1, Error: why},
			answer: verdict.Answer{Policy: m.policy(), Failure: why},
		}
	}
}

// asked runs one hook and reads its answer.
func (d *Dispatcher) asked(ctx context.Context, e *events.Event, c *events.Contract, m match, data json.RawMessage) ran {
	if !d.permits.take(ctx, e.Depth) {
		return d.unstarted(e, c, nil, m, "no slot was free before the deadline of the event")
	}
	defer d.permits.give(e.Depth)
	timeout := m.hook.Timeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline))
	}
	if timeout <= 0 {
		return d.unstarted(e, c, nil, m, "the deadline of the event passed before its turn")
	}
	return d.execute(e, c, nil, m, data, timeout)
}

// startLater queues the observers that deciding hooks of their file let through.
func (d *Dispatcher) startLater(e *events.Event, ms []match, done []ran, kept bool) {
	for _, m := range ms {
		t := &task{event: e, match: m, kept: kept}
		if aborted(done, m) {
			d.queue.abandon(e)
			d.recorder.Finished(t.key(), events.Run{}, t.fate(events.Run{}, time.Time{}))
			continue
		}
		d.pending.Add(1)
		d.enqueue([]*task{t})
	}
}

// startNested runs the observers that a hook waits for at once: their permits
// are those of their depth, so that a hook cannot wait for its own place.
func (d *Dispatcher) startNested(e *events.Event, ms []match, results chan<- events.Run, kept bool) {
	for _, m := range ms {
		t := &task{event: e, match: m, result: results, kept: kept, nested: true}
		d.pending.Add(1)
		go func() {
			defer d.pending.Done()
			if !d.permits.take(d.ctx, e.Depth) {
				t.tell(d.unstarted(e, e.Contract, t, m, "hookd was stopped").run)
				return
			}
			defer d.permits.give(e.Depth)
			t.tell(d.execute(e, e.Contract, t, m, e.Data, m.hook.Timeout).run)
		}()
	}
}

// await collects n runs of observers. A timeout_ms of the sender ends the
// wait, not the runs.
func (d *Dispatcher) await(e *events.Event, n int, results <-chan events.Run) (runs []events.Run) {
	var expired <-chan time.Time
	if e.TimeoutMS > 0 {
		timer := time.NewTimer(time.Duration(e.TimeoutMS) * time.Millisecond)
		defer timer.Stop()
		expired = timer.C
	}
	for len(runs) < n {
		select {
		case r := <-results:
			runs = append(runs, r)
		case <-expired:
			return runs
		}
	}
	return runs
}

func (m match) policy() verdict.Policy {
	onError := m.hook.OnError
	if onError == "" {
		onError = hook.OnErrorWarn
	}
	return verdict.Policy{Name: m.hook.Name, Blocking: m.blocks, OnError: string(onError), StrictOutput: m.hook.StrictOutput}
}

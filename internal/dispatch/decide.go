package dispatch

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
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
	until := time.Now().Add(budget(e, &main, preempt, rest))
	if len(preempt) == 0 {
		done := d.lane(until, e, &main, rest)
		return verdict.Fold(&main, e.Data, answers(done)), done
	}
	done := d.lane(until, e, &first, preempt)
	v := verdict.Fold(&first, e.Data, answers(done))
	if len(rest) == 0 || v.Skips() {
		return v, done
	}
	more := d.lane(until, e, &main, rest)
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
	for i, m := range ms {
		same := func(chain []match) bool { return chain[0].hook.Source == m.hook.Source }
		if m.chained() && slices.ContainsFunc(list, same) {
			at := slices.IndexFunc(list, same)
			list[at] = append(list[at], m)
			continue
		}
		list = append(list, ms[i:i+1:i+1])
	}
	return list
}

// chained reports whether an abort of an earlier hook of the same file stops
// this one (seed 001, SPEC section 10).
func (m match) chained() bool { return m.hook.Dialect == events.Familiar }

// lane runs the hooks of one lane, in sequence or side by side as c says, and
// returns what ran in registration order.
func (d *Dispatcher) lane(until time.Time, e *events.Event, c *events.Contract, ms []match) []ran {
	if c.Sequence {
		return d.sequence(until, e, c, ms)
	}
	return d.parallel(until, e, c, ms)
}

// sequence runs one hook after another, each seeing the rewrites so far.
// A denial does not stop the rest: every hook sees every event.
func (d *Dispatcher) sequence(until time.Time, e *events.Event, c *events.Contract, ms []match) (done []ran) {
	data := e.Data
	for _, m := range ms {
		if aborted(done, m) {
			continue
		}
		now := data // a run that is stuck may look at it later
		r := d.limited(until, m, func() ran { return d.asked(d.ctx, until, e, c, m, now) })
		done = append(done, r)
		if c.FirstWins && r.answer.Replaces(c) {
			break
		}
		data = r.answer.Rewrite(c, data)
	}
	return done
}

// parallel runs one of the chains itself: to hand it to another goroutine and to
// hear of its end wakes a thread each, which costs more than the rest.
func (d *Dispatcher) parallel(until time.Time, e *events.Event, c *events.Contract, ms []match) []ran {
	chains := chains(ms)
	if len(chains) == 0 {
		return nil
	}
	list := make([][]ran, len(chains))
	var others sync.WaitGroup
	for i, chain := range chains[1:] {
		others.Go(func() { list[i+1] = d.inOrder(until, e, c, chain) })
	}
	list[0] = d.inOrder(until, e, c, chains[0])
	others.Wait()
	done := slices.Concat(list...)
	slices.SortStableFunc(done, func(a, b ran) int { return a.match.at - b.match.at })
	return done
}

func (d *Dispatcher) inOrder(until time.Time, e *events.Event, c *events.Contract, chain []match) (done []ran) {
	for _, m := range chain {
		if !aborted(done, m) {
			done = append(done, d.limited(until, m, func() ran { return d.asked(d.ctx, until, e, c, m, e.Data) }))
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
// shortly after until or the end of all runs; do goes on and records itself. The
// Runner answers for persistent hooks in time, so they need no other goroutine.
func (d *Dispatcher) limited(until time.Time, m match, do func() ran) ran {
	if m.hook.Persistent {
		return do()
	}
	done := make(chan ran, 1)
	d.pending.Add(1)
	go func() { defer d.pending.Done(); done <- do() }()
	timer := time.NewTimer(time.Until(until) + grace)
	defer timer.Stop()
	select {
	case r := <-done:
		return r
	case <-timer.C:
		return stuck(m)
	case <-d.ctx.Done():
	}
	timer.Reset(grace)
	select {
	case r := <-done:
		return r
	case <-timer.C:
		return stuck(m)
	}
}

func stuck(m match) ran {
	why := "still runs after its deadline and the kill"
	return ran{
		match:  m,
		run:    events.Run{Hook: m.hook.Name, Result: events.ResultTimeout, ExitCode: -1, Error: why},
		answer: verdict.Answer{Policy: m.policy(), Failure: why},
	}
}

// asked runs one hook and reads its answer. It waits for a slot, at most until
// then or until ctx ends.
func (d *Dispatcher) asked(ctx context.Context, until time.Time, e *events.Event, c *events.Contract, m match, data json.RawMessage) ran {
	if !d.permits.takeUntil(ctx, until, e.Depth) {
		return d.unstarted(e, c, nil, m, "no slot was free before the deadline of the event")
	}
	defer d.permits.give(e.Depth)
	timeout := min(m.hook.Timeout, time.Until(until))
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

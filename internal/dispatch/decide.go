package dispatch

import (
	"context"
	"encoding/json"
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
func (d *Dispatcher) decide(e *events.Event, ms []match) (*verdict.Verdict, []events.Run) {
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
		answers, runs := d.lane(ctx, e, &main, rest)
		return verdict.Fold(&main, e.Data, answers), runs
	}
	answers, runs := d.lane(ctx, e, &first, preempt)
	v := verdict.Fold(&first, e.Data, answers)
	if len(rest) == 0 || v.Skips() {
		return v, runs
	}
	more, moreRuns := d.lane(ctx, e, &main, rest)
	return v.Then(verdict.Fold(&main, e.Data, more)), append(runs, moreRuns...)
}

// budget is the time that all of an event's hooks have together: what the
// sender says, else the largest deadline of the hooks that run side by side,
// or the sum of those that run in sequence.
func budget(e *events.Event, c *events.Contract, preempt, rest []match) time.Duration {
	if e.TimeoutMS > 0 {
		return time.Duration(e.TimeoutMS) * time.Millisecond
	}
	var longest, sum, first time.Duration
	for _, m := range preempt {
		first = max(first, m.hook.Timeout)
	}
	for _, m := range rest {
		longest, sum = max(longest, m.hook.Timeout), sum+m.hook.Timeout
	}
	if c.Sequence {
		return first + sum + startTime
	}
	return first + longest + startTime
}

// lane runs the hooks of one lane, in sequence or side by side as c says, and
// returns their answers and runs in registration order.
func (d *Dispatcher) lane(ctx context.Context, e *events.Event, c *events.Contract, ms []match) ([]verdict.Answer, []events.Run) {
	if c.Sequence {
		return d.sequence(ctx, e, c, ms)
	}
	return d.parallel(ctx, e, c, ms)
}

// sequence runs one hook after another, each seeing the rewrites so far.
// A denial does not stop the rest: every hook sees every event.
func (d *Dispatcher) sequence(ctx context.Context, e *events.Event, c *events.Contract, ms []match) (answers []verdict.Answer, runs []events.Run) {
	data := e.Data
	for _, m := range ms {
		r := d.limited(ctx, m, func() ran { return d.asked(ctx, e, c, m, data) })
		answers, runs = append(answers, r.answer), append(runs, r.run)
		if c.FirstWins && r.answer.Replaces(c) {
			break
		}
		data = r.answer.Rewrite(c, data)
	}
	return answers, runs
}

func (d *Dispatcher) parallel(ctx context.Context, e *events.Event, c *events.Contract, ms []match) ([]verdict.Answer, []events.Run) {
	waits := make([]chan ran, len(ms))
	for i, m := range ms {
		waits[i] = make(chan ran, 1)
		go func() { waits[i] <- d.limited(ctx, m, func() ran { return d.asked(ctx, e, c, m, e.Data) }) }()
	}
	answers, runs := make([]verdict.Answer, len(ms)), make([]events.Run, len(ms))
	for i := range ms {
		r := <-waits[i]
		answers[i], runs[i] = r.answer, r.run
	}
	return answers, runs
}

// ran is a run and how it answered.
type ran struct {
	run    events.Run
	answer verdict.Answer
	job    *Job    // nil when it never came to that
	out    Outcome // of the job
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
			run:    events.Run{Hook: m.hook.Name, Result: events.ResultTimeout, ExitCode: -1, Error: why},
			answer: verdict.Answer{Policy: m.policy(), Failure: why},
		}
	}
}

// asked runs one hook and reads its answer.
func (d *Dispatcher) asked(ctx context.Context, e *events.Event, c *events.Contract, m match, data json.RawMessage) ran {
	if !d.permits.take(ctx, e.Depth) {
		return d.unstarted(e, c, m, "no slot was free before the deadline of the event")
	}
	defer d.permits.give(e.Depth)
	timeout := m.hook.Timeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline))
	}
	if timeout <= 0 {
		return d.unstarted(e, c, m, "the deadline of the event passed before its turn")
	}
	return d.execute(e, c, m, data, timeout)
}

// startNested runs the observers that a hook waits for at once: their permits
// are those of their depth, so that a hook cannot wait for its own place.
func (d *Dispatcher) startNested(e *events.Event, ms []match, results chan<- events.Run) {
	for _, m := range ms {
		d.pending.Add(1)
		go func() {
			defer d.pending.Done()
			if !d.permits.take(d.ctx, e.Depth) {
				results <- d.unstarted(e, e.Contract, m, "hookd was stopped").run
				return
			}
			defer d.permits.give(e.Depth)
			results <- d.execute(e, e.Contract, m, e.Data, m.hook.Timeout).run
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

package dispatch

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match"
	"github.com/hookd/hookd/wire"
)

// grace is how long past the budget an answer waits for the records of runs
// that were just killed. A run that is not back by then counts as timed out.
const grace = 250 * time.Millisecond

// startTime is added to a budget that the sender did not set: a hook's deadline
// counts from the start of its process, which takes a moment to get there.
const startTime = 100 * time.Millisecond

// verdicts asks the hooks that decide events, and folds their answers.
type verdicts struct {
	*lifetime
	runs      *runs
	tracker   *callTracker
	decisions *decisions
	records   *runRecords
	snapshots *snapshots

	slots     awaitedSlots
	deciding  crowd
	shadowing crowd        // events that hooks in the shadow look at
	shadows   awaitedSlots // of those hooks
}

// decide runs the hooks that decide e and folds their answers. The preempt
// lane goes first, and its deny or ask skips the other; but not an ask that
// hookd looks for an answer to: none may let a call pass that other hooks have not
// seen. q is the verdict's question where hookd looks; nil = nothing, or the agent. permitted is the
// permit of a person that has lifted a denial; nil = none has.
func (vs *verdicts) decide(
	e *events.Event,
	ms []match.Match,
	sender Origin,
) (v *verdict.Verdict, done []*attempt, q *Question, permitted *wire.Answered) {
	if len(ms) > 0 {
		if !vs.deciding.enter(e) {
			v, done = vs.crowdedOut(e, ms)
			return v, done, nil, nil
		}
		defer vs.deciding.leave(e)
	}
	var preempt, rest []match.Match
	for _, m := range ms {
		switch {
		case match.Lane(m.Hook) != events.LanePreempt:
			rest = append(rest, m)
		case m.Unfit == "": // no hook of its lane rewrites
			preempt = append(preempt, m)
		}
	}
	contract := *e.Contract
	until := time.Now().Add(budget(e, &contract, preempt, rest))
	main := decidingLane{
		d: vs, ctx: vs.ctx, event: e, contract: &contract, until: until, slots: vs.slots, permitted: &permitted,
	}
	if len(preempt) == 0 {
		v, done = main.decide(rest)
		v, q = vs.withQuestion(e, v, done, sender)
		return v, done, q, permitted
	}
	early := contract.Preempt()
	first := main
	first.contract = &early
	v, done = first.decide(preempt)
	alone, q := vs.withQuestion(e, v, done, sender)
	if len(rest) == 0 || v.Skips() && q == nil && !(v.Allowed && slices.ContainsFunc(rest, ofPolicy)) {
		return alone, done, q, permitted
	}
	then, more := main.decide(rest)
	done = append(done, more...)
	v, q = vs.withQuestion(e, verdict.Then(v, then), done, sender)
	return v, done, q, permitted
}

// ofPolicy reports whether a match is one of a policy's hooks, which no ask skips: an agent
// that a person lets go on must not pass them.
func ofPolicy(m match.Match) bool { return m.Hook.Layer.Signed() }

// decidingLane has the state that the runs of one lane of a decidable event share.
type decidingLane struct {
	d        *verdicts
	ctx      context.Context // ends the wait for a slot
	event    *events.Event
	contract *events.Contract // of the lane
	until    time.Time        // when the time of all of them is over
	slots    awaitedSlots

	permitted **wire.Answered // set to the permit that has lifted a denial; nil = none lifts one
}

// decide runs the hooks, in sequence or side by side as the contract says, and
// folds their answers in registration order.
func (l decidingLane) decide(ms []match.Match) (*verdict.Verdict, []*attempt) {
	run := l.parallel
	if l.contract.Sequence {
		run = l.sequence
	}
	done := run(ms)
	list := append(answers(done), l.doubt(done)...)
	v := verdict.Fold(l.contract, l.event.Data, list)
	if lifted := l.lift(v, done, list); lifted != nil {
		v = verdict.Fold(l.contract, l.event.Data, lifted)
	}
	return v, done
}

// lift returns the answers without the denials of a tool call that a person lets pass; nil =
// nothing denies it, or no permit covers all hooks that do. The answers of other hooks stay.
func (l decidingLane) lift(v *verdict.Verdict, done []*attempt, list []verdict.Answer) []verdict.Answer {
	if l.permitted == nil || l.contract.Kind != events.KindToolBefore || v.Allowed && v.PermissionDecision != "deny" {
		return nil
	}
	var denying []*hook.Hook
	lifted := slices.Clone(list)
	for i, a := range done {
		if outcome, _ := a.answer.Says(l.contract); outcome == wire.OutcomeDeny || a.failsClosed(l.contract) {
			denying = append(denying, a.match.Hook)
			lifted[i] = verdict.Answer{Terms: a.match.Terms()}
			if l.contract.Decision == events.DecisionVerdict {
				lifted[i].PermissionDecision, lifted[i].PermissionReason = "allow", "a person lets this call pass"
			}
		}
	}
	by := l.d.opts.Asks.Permit(l.event, denying)
	if by == nil {
		return nil
	}
	*l.permitted = by
	return lifted
}

// failsClosed reports whether the hook of an attempt has failed, and denies for that.
func (a *attempt) failsClosed(c *events.Contract) bool {
	return a.answer.Failure != "" && a.answer.FailureDenies(c)
}

// doubt asks a person about a call that programs read in different ways: guards may have judged another
// call than the agent runs.
func (l decidingLane) doubt(done []*attempt) []verdict.Answer {
	guard := func(a *attempt) bool { return a.match.Terms().Blocking }
	if l.contract.Kind != events.KindToolBefore || !slices.ContainsFunc(done, guard) {
		return nil
	}
	unclear := cmp.Or(l.event.Unclear, rawjson.Unclear(l.event.Data))
	if unclear == "" {
		return nil
	}
	return []verdict.Answer{{
		Terms: verdict.Terms{Name: "hookd", Blocking: true}, PermissionDecision: "ask",
		PermissionReason: "the call has " + unclear + ": hooks may not have judged what runs",
	}}
}

// budget is the time that all of an event's hooks have together: the sender's time,
// else the largest deadline of the hooks side by side, or the sum of those in sequence.
func budget(e *events.Event, c *events.Contract, preempt, rest []match.Match) time.Duration {
	if e.TimeoutMS > 0 {
		return time.Duration(e.TimeoutMS) * time.Millisecond
	}
	return longest(preempt, false) + longest(rest, c.Sequence) + startTime
}

func longest(ms []match.Match, sequence bool) (most time.Duration) {
	chains := chains(ms)
	if sequence {
		chains = [][]match.Match{ms}
	}
	for _, chain := range chains {
		var sum time.Duration
		for _, m := range chain {
			sum += m.Hook.Timeout
		}
		most = max(most, sum)
	}
	return most
}

// chains splits hooks into sequences that must run one after another: the hooks of
// one AGENT.md do, in file order; each other hook is a chain of its own.
func chains(ms []match.Match) (list [][]match.Match) {
	for i, m := range ms {
		same := func(chain []match.Match) bool { return chain[0].Hook.Source == m.Hook.Source }
		if chained(m) && slices.ContainsFunc(list, same) {
			at := slices.IndexFunc(list, same)
			list[at] = append(list[at], m)
			continue
		}
		list = append(list, ms[i:i+1:i+1])
	}
	return list
}

// sequence runs one hook after another, each seeing the rewrites so far.
// A denial does not stop the rest; a replacement, an abort or a skip does.
func (l decidingLane) sequence(ms []match.Match) (done []*attempt) {
	data, rewritten := l.event.Data, false
	for _, m := range ms {
		if aborted(done, m) || m.Unfit != "" && !(rewritten && l.fits(m, data)) {
			continue
		}
		now := data // a run that is stuck may look at it later
		a := l.attempt(m, now)
		done = append(done, a)
		if l.contract.FirstWins && a.answer.Replaces(l.contract) {
			break
		}
		rewritten = rewritten || a.answer.Replaces(l.contract)
		data = a.answer.Rewrite(l.contract, data)
	}
	return done
}

// fits reports whether the conditions of a hook fit the event as it was rewritten.
func (l decidingLane) fits(m match.Match, data json.RawMessage) bool {
	now := *l.event
	now.Data = data
	return l.d.snapshots.index.Load().Fits(m, &now)
}

// parallel runs one of the chains itself: to hand it to another goroutine and to
// hear of its end wakes a thread each, which costs more than the rest.
func (l decidingLane) parallel(ms []match.Match) []*attempt {
	chains := chains(ms)
	if len(chains) == 0 {
		return nil
	}
	list := make([][]*attempt, len(chains))
	var others sync.WaitGroup
	for i, chain := range chains[1:] {
		others.Go(func() { list[i+1] = l.inOrder(chain) })
	}
	list[0] = l.inOrder(chains[0])
	others.Wait()
	done := slices.Concat(list...)
	slices.SortStableFunc(done, func(a, b *attempt) int { return a.match.At - b.match.At })
	return done
}

func (l decidingLane) inOrder(chain []match.Match) (done []*attempt) {
	for _, m := range chain {
		if !aborted(done, m) {
			done = append(done, l.attempt(m, l.event.Data))
		}
	}
	return done
}

// aborted reports whether a run before it stops m.
func aborted(done []*attempt, m match.Match) bool {
	return chained(m) &&
		slices.ContainsFunc(done, func(r *attempt) bool { return r.aborts && r.match.Hook.Source == m.Hook.Source })
}

func answers(done []*attempt) []verdict.Answer {
	list := make([]verdict.Answer, len(done))
	for i, a := range done {
		list[i] = a.answer
	}
	return list
}

// withoutOutput is the record of a run that a sender gets.
func withoutOutput(r wire.Run) wire.Run {
	r.Stdout, r.Stderr, r.Input = wire.Output{}, wire.Output{}, ""
	return r
}

func runsOf(done []*attempt) []wire.Run {
	list := make([]wire.Run, len(done))
	for i, r := range done {
		list[i] = withoutOutput(r.run)
	}
	return list
}

// stuck stands for an attempt whose run is not back: the run may still write to a. Its program may have ended.
func (l decidingLane) stuck(a *attempt) *attempt {
	result, why := wire.ResultTimeout, "timed out after "+a.timeout.Round(time.Millisecond).String()+": "+notEnded
	if l.d.gaveUp(a) {
		result, why = wire.ResultInterrupted, errStopped.Error()
	}
	return &attempt{
		event: a.event, contract: a.contract, match: a.match, data: a.data,
		run:    wire.Run{Hook: a.match.Hook.Name, Result: result, ExitCode: -1, Error: why},
		answer: verdict.Answer{Terms: a.match.Terms(), Failure: why},
	}
}

// leastRest is the time that a run which had to wait for its slot must have left at least:
// it would only be killed. It is the shortest deadline that a hook can have.
const leastRest = 50 * time.Millisecond

// attempt runs one hook and reads its answer. It waits for a slot, at most until the
// time of the lane is over.
func (l decidingLane) attempt(m match.Match, data json.RawMessage) *attempt {
	d, depth, asked := l.d, l.event.Depth, time.Now()
	a := &attempt{event: l.event, contract: l.contract, match: m, data: data}
	if d.gaveUp(a) {
		return d.runs.unstarted(a, errStopped.Error())
	}
	waited := !l.slots.takeNow(depth)
	if waited && !l.slots.takeUntil(l.ctx, l.until, depth) {
		return d.runs.unstarted(a, "no slot was free before the deadline of the event")
	}
	a.timeout = min(m.Hook.Timeout, time.Until(l.until))
	if waited && a.timeout < min(max(m.Hook.Timeout/10, leastRest), l.until.Sub(asked)) {
		l.slots.give(depth)
		return d.runs.unstarted(a, "a slot was free too late: there was no time left to run")
	}
	if a.timeout <= 0 {
		l.slots.give(depth)
		return d.runs.unstarted(a, "the deadline of the event passed before its turn")
	}
	d.pending.Add(1)
	ended := func() {
		l.slots.give(depth)
		d.pending.Done()
	}
	if m.Hook.Persistent { // its Runner is back in time, and needs no other goroutine
		d.runs.execute(a, nil, func(bool) { ended() })
		return a
	}
	return await(func(t *awaitedRun) {
		unlimited := l.endLate(a, func() { t.giveUp(l.stuck(a)) })
		d.runs.execute(a, nil, func(late bool) {
			unlimited()
			ended()
			if late {
				t.giveUp(a)
			} else {
				t.end(a)
			}
		})
	})
}

// endLate calls over when a run is not back shortly after the time of the lane, or after it had to
// die, unless unlimited is called before. Such a run is recorded later.
func (l decidingLane) endLate(a *attempt, over func()) (unlimited func()) {
	late := l.d.runs.alarms.after(l.until.Add(grace), over)
	stop := context.AfterFunc(l.d.lifeOf(a), func() { l.d.runs.alarms.move(late, time.Now().Add(grace)) })
	return func() {
		stop()
		l.d.runs.alarms.cancel(late)
	}
}

// crowdedOut answers for hooks that cannot be asked, as too many events wait for
// a verdict: each has failed, which denies where failures do.
func (vs *verdicts) crowdedOut(e *events.Event, ms []match.Match) (*verdict.Verdict, []*attempt) {
	c := *e.Contract
	var done []*attempt
	for _, m := range ms {
		if m.Unfit != "" {
			continue
		}
		done = append(
			done,
			vs.runs.unstarted(
				&attempt{event: e, contract: &c, match: m},
				"too many events wait for their verdict, or too large ones",
			),
		)
	}
	return verdict.Fold(&c, e.Data, answers(done)), done
}

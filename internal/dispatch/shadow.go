package dispatch

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/match"
	"github.com/hookd/hookd/wire"
)

// shadowSlotWait is how long a hook in the shadow may wait for a slot: nothing waits for it.
const shadowSlotWait = 30 * time.Second

// shadowDelay is how long hooks in the shadow wait after a verdict: so they do not compete with
// its way to the sender for a processor.
const shadowDelay = 2 * time.Millisecond

// runShadows runs the hooks in the shadow, now that the verdict is made. It records the
// decision when they have said how they would have decided. It does not wait. done are
// the attempts that made the verdict.
func (vs *verdicts) runShadows(
	rec *wire.Decision, e *events.Event, ms []match.Match, done []*attempt, w trackedCall,
) {
	settle := vs.tracker.settling(e, w)
	if !vs.shadowing.enter(e) {
		vs.log.Warn("too many events wait for hooks in the shadow: they do not see this one",
			zap.String("event", e.Envelope.Event), zap.String("event_id", e.EventID), zap.Strings("hooks", names(ms)))
		vs.decisions.recordDecision(rec, e, done, w, settle)
		return
	}
	hears := vs.decisions.hears(rec, e, w)
	before, recorded := vs.decisions.order.take(rec, true)
	vs.decisions.recordLater(rec, false, before, recorded, settle, func() {
		defer vs.shadowing.leave(e)
		pause.For(shadowDelay, vs.stopping.Done())
		watched := vs.shadowed(e, ms, done)
		for _, a := range watched {
			if a.run.Result == wire.ResultInterrupted {
				continue // how it would have decided is not known
			}
			if s := vs.would(a); s.Decision != wire.OutcomeNone || len(s.Rewrote) > 0 {
				rec.Shadow = append(rec.Shadow, s)
			}
		}
		waitRecorded(done)
		waitRecorded(watched)
		if hears != nil {
			hears()
		}
	})
}

// shadowed runs hooks in the shadow side by side, each as if at its place among the
// deciding hooks: it sees the rewrites of those before it.
func (vs *verdicts) shadowed(e *events.Event, ms []match.Match, done []*attempt) []*attempt {
	list := make([]*attempt, len(ms))
	var all sync.WaitGroup
	for i, m := range ms {
		contract := *e.Contract
		if match.Lane(m.Hook) == events.LanePreempt {
			contract = contract.Preempt()
		}
		l := decidingLane{
			d: vs, ctx: vs.stopping, event: e, contract: &contract, slots: vs.shadows,
			until: time.Now().Add(m.Hook.Timeout + shadowSlotWait),
		}
		data := rewrittenBefore(m, &contract, e.Data, done)
		if m.Unfit == "" || l.fits(m, data) {
			all.Go(func() { list[i] = l.attempt(m.Enforced(), data) })
		}
	}
	all.Wait()
	return slices.DeleteFunc(list, func(a *attempt) bool { return a == nil })
}

// rewrittenBefore is data as the attempts on hooks that stand before m have rewritten it.
func rewrittenBefore(m match.Match, c *events.Contract, data json.RawMessage, done []*attempt) json.RawMessage {
	if !c.Sequence {
		return data
	}
	for _, a := range done {
		if a.match.At < m.At {
			data = a.answer.Rewrite(c, data)
		}
	}
	return data
}

// would says how the hook of an attempt would have decided, were it the only one.
func (vs *verdicts) would(a *attempt) wire.Shadowed {
	v := verdict.Fold(a.contract, a.data, []verdict.Answer{a.answer})
	outcome, reason := outcomeOf(v)
	return wire.Shadowed{
		Hook: a.match.Hook.Name, Decision: outcome, Reason: vs.records.clean(reason), Rewrote: rewrote(v),
	}
}

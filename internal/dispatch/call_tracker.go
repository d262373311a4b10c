package dispatch

import (
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// tracks reports whether e is an agent's own event about a call, which is tracked from the question to
// the result.
func (f *callTracker) tracks(e *events.Event, env *events.Envelope) bool {
	k := e.Contract.Kind
	return (k == events.KindToolBefore || k == events.KindToolAfter || e.Contract.Judge != "") &&
		env.Dialect != "" && env.Parent == "" && env.Brought == nil && !env.Tried && e.SessionID != "" &&
		dialect.Agent(env.Dialect) != nil
}

// track notes the result of a call that no hook judges, or that the agent's own judge has denied it.
// It does not wait, and e is not used when it has returned.
func (f *callTracker) track(e *events.Event, w trackedCall) {
	settle := f.settling(e, w)
	switch {
	case w.tracked && e.Contract.Judge != "":
		f.trackJudge(e, w.call)
	case settle != nil:
		f.trackResult(f.decisions.decided(e, allowed(), nil), settle, w.call != nil)
	}
}

// trackResult completes rec when all that was decided before in its session is recorded, and records
// it where hookd was not asked or not obeyed. known says that settle does not read the history.
func (f *callTracker) trackResult(rec *wire.Decision, settle func(*wire.Decision), known bool) {
	before, recorded := f.decisions.order.take(rec, !known)
	end := func() {
		defer recorded()
		if settle(rec); rec.Guarded == wire.GuardedDisobeyed || rec.Guarded == wire.GuardedNotAsked {
			f.decisions.recordNow(rec, nil)
		}
	}
	if before == nil && known {
		end()
		return
	}
	f.pending.Go(func() {
		if before != nil {
			<-before
		}
		end()
	})
}

// trackJudge records that the agent itself has denied a call that hookd let pass.
func (f *callTracker) trackJudge(e *events.Event, about *call) {
	of := f.decisions.calls.of(about)
	if of.denied {
		return // by hookd, which its agent reports
	}
	rec := f.decisions.decided(e, allowed(), nil)
	rec.Decision, rec.Judge = wire.OutcomeDeny, e.Contract.Judge
	rec.Reason = f.records.clean(dialect.Facts(e).String(neutral.Reason))
	if about != nil {
		rec.Guarded = wire.GuardedAsked
	}
	before, recorded := f.decisions.order.take(rec, false)
	if before == nil {
		f.recorder.Decided(rec)
		return
	}
	f.decisions.recordLater(rec, false, before, recorded, nil, func() {})
}

package dispatch

import (
	"cmp"
	"time"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// trackedCall has the known facts of the call that an event is about.
type trackedCall struct {
	call    *call // nil = the event is about none, or about one that is not known
	tracked bool  // from the question to the result
	// past gets the fate of an ask once its agent has said it; nil = the past has that.
	past func(wire.Outcome)
}

// callTracker tracks the calls of agents from the question to the result.
type callTracker struct {
	*lifetime
	decisions *decisions
	records   *runRecords
	began     time.Time // when New was called
}

// about fills in an event's subject as About does, and returns the call.
func (f *callTracker) about(e *events.Event) (about *call) {
	e.Tool, e.Subject = dialect.Subject(e, f.opts.Redact)
	e.CallID, about = f.decisions.calls.note(e)
	return about
}

// judged adds to the record of a decision its part about the call.
func (f *callTracker) judged(rec *wire.Decision, e *events.Event, v *verdict.Verdict, w trackedCall) {
	switch e.Contract.Kind {
	case events.KindToolBefore:
		rec.Guarded = wire.GuardedAsked
		var changed []change
		if v.Allowed && v.UpdatedInput != nil && !v.Contains() { // of a box, Boxes knows whether it ran
			changed = changes(e, v.UpdatedInput)
		}
		f.decisions.calls.decided(w.call, rec, changed)
	case events.KindPermissionRequest:
		rec.Guarded = wire.GuardedAsked
		joins(rec, f.decisions.calls.of(w.call))
	}
}

// joins makes rec a part of the earlier decision about its call, where it says nothing more.
func joins(rec *wire.Decision, about call) {
	if about.seq != 0 && rec.Decision == wire.OutcomeNone && rec.Rewrote == nil && rec.Shadow == nil {
		rec.PartOf = about.event
	}
}

// ending is the report of the event after a call on that call.
type ending struct {
	ran    wire.Ran
	result dialect.ToolResult
	other  bool // it ran with another input than hookd was asked about, or than hooks gave it
	bare   bool // it ran without the box that it was given
	missed bool // it is on record that hookd was not asked
}

// settling returns a function that completes the record of e, which is an event after a call, as settle
// does; nil = it is another event, or its call is not tracked.
func (f *callTracker) settling(e *events.Event, w trackedCall) func(*wire.Decision) {
	if !w.tracked || e.Contract.Kind != events.KindToolAfter {
		return nil
	}
	end := f.ending(e, w.call)
	if w.call == nil {
		end.missed = f.decisions.calls.miss(e)
	}
	return func(rec *wire.Decision) { f.settle(rec, end, w.call) }
}

// ending reads e's report on the end of its call.
func (f *callTracker) ending(e *events.Event, about *call) (end ending) {
	end.result = dialect.ResultOf(e)
	end.ran = wire.Ran{
		EventID: e.EventID, Time: e.Time, Failed: end.result.Failed,
		TookMS: float64(end.result.Took) / float64(time.Millisecond),
	}
	of, before := f.decisions.calls.of(about), ""
	if agent := dialect.Agent(e.Dialect); agent != nil && agent.ShowsRun {
		is := of.changed
		if is == nil {
			is = of.command
		}
		end.other = !of.guessed && other(e, is)
	}
	if !of.guessed {
		before = of.event
	}
	end.ran.Box, end.bare = f.opts.Boxes.Ran(e, before, end.result.Failed)
	if end.other {
		end.ran.Instead = cmp.Or(e.Subject, e.Tool)
	}
	return end
}

// settle says in the record of an event after a call how the call was guarded, and tells the history
// of the call's end. It is called when all that was decided before in the session is recorded.
func (f *callTracker) settle(rec *wire.Decision, end ending, about *call) {
	if about == nil && !end.missed {
		var unguarded bool
		if about, unguarded = f.unknown(rec, end.result.Took); unguarded {
			rec.Guarded = wire.GuardedNotAsked
		}
	}
	if about == nil {
		return
	}
	of := f.decisions.calls.of(about)
	rec.Guarded = wire.GuardedAsked
	switch {
	case end.bare, of.denied && !refused(end.result, of.reason), end.other && !end.result.Failed:
		if !f.decisions.calls.firstTold(about) {
			joins(rec, of)
			return
		}
		rec.Guarded = wire.GuardedDisobeyed
		rec.Reason = cmp.Or(rec.Reason, notObeyed(of, end))
	}
	if of.seq == 0 {
		return
	}
	joins(rec, of)
	if of.denied && rec.Guarded == wire.GuardedAsked {
		return // it did not run: this reports the denial
	}
	if of.unanswered { // no guard has let it run
		f.recorder.Ended(of.seq, wire.GuardedNotAsked, end.ran)
		told := *rec
		told.Guarded, told.Reason = wire.GuardedNotAsked, Unanswered
		f.decisions.tell(&told)
		return
	}
	f.recorder.Ended(of.seq, rec.Guarded, end.ran)
}

// notObeyed says how an agent departed from its orders.
func notObeyed(of call, end ending) string {
	if of.denied {
		return "it was denied, and its result came all the same"
	}
	if end.bare {
		return "it ran without the box that it was given"
	}
	if of.changed == nil {
		return "it ran with another input than hookd was asked about: " + end.ran.Instead
	}
	return "it ran with another input than hooks gave it: " + end.ran.Instead
}

// unknown returns the call of rec, an event after a call that this process was not asked about, if the process
// before it was. Else it reports whether hookd was surely not asked: not where the question may have come to that
// process.
func (f *callTracker) unknown(rec *wire.Decision, took time.Duration) (about *call, unguarded bool) {
	if time.Since(f.began) > longCall && took < longCall {
		return nil, true
	}
	first, was, ok := f.recorder.Began(rec.SessionID, rec.Dialect, rec.CallID, f.began, longCall)
	if was == nil || was.Ran != nil || was.Tool != rec.Tool {
		return nil, ok && !first.Before(f.began)
	}
	about = &call{id: was.CallID, event: was.EventID, tool: was.Tool}
	about.unanswered = was.Told != nil && was.Told.Unsure == Unanswered
	f.decisions.calls.decided(about, was, nil)
	return about, false
}

package dispatch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match"
	"github.com/hookd/hookd/wire"
)

// allowed is the verdict on an event that no hook decides.
func allowed() *verdict.Verdict { return &verdict.Verdict{Allowed: true, Continue: true} }

// decisions makes the records of decisions, and hands them over in their order.
type decisions struct {
	*lifetime
	records *runRecords
	order   decisionOrder // of decisions to be recorded
	calls   calls
}

// decided makes the record of a decision that the attempts done have led to.
func (ds *decisions) decided(e *events.Event, v *verdict.Verdict, done []*attempt) *wire.Decision {
	outcome, reason := outcomeOf(v)
	rec := &wire.Decision{
		EventID: e.EventID, EventSeq: e.Seq, Time: e.Time,
		Event: e.Envelope.Event, Kind: e.Contract.Kind, Dialect: e.Dialect,
		AgentID: e.AgentID, AgentName: e.AgentName, SessionID: e.SessionID, Cwd: e.Cwd,
		Tool: e.Tool, Subject: e.Subject, CallID: e.CallID, Tried: e.Tried,
		Decision: outcome, Reason: ds.records.clean(reason), DecidedBy: v.DecidedBy, Rewrote: rewrote(v),
		DurationMS: ms(max(0, time.Since(e.Time))),
	}
	if e.Contract.Kind == events.KindToolBefore && (outcome == wire.OutcomeDeny || outcome == wire.OutcomeAsk) {
		rec.CallSum = ds.opts.Asks.Identify(e)
	}
	for _, a := range done {
		if a.run.ID != "" {
			rec.Runs = append(rec.Runs, a.run.ID)
		}
		if why := untaken(a); why != "" {
			rec.Untaken = append(rec.Untaken, a.run.Hook+": "+ds.records.clean(why))
		}
		if slices.Contains(v.DecidedBy, a.match.Hook.Name) {
			rec.Earlier, rec.Missing = append(rec.Earlier, a.out.Earlier...), cmp.Or(rec.Missing, a.out.Missing)
		}
	}
	if v.Allowed && v.UpdatedInput != nil {
		rec.NewInput, rec.NewSubject = ds.newInput(e, v.UpdatedInput)
	}
	if v.Contains() {
		rec.Contained, rec.Opened = v.Contain[0], v.Opens
	}
	if e.Unattended && e.Hearing == nil && outcome == wire.OutcomeAsk { // a plugin says no more
		rec.Hear(wire.Told{Decision: wire.OutcomeDeny, Reason: rec.Reason})
	}
	return rec
}

// Unheard is why it is not known how an agent took a verdict that hookd had when it was killed.
const Unheard = "hookd was killed before its bridge said so"

// Unanswered is why it is not known how an agent took it that hookd was killed before the verdict: a bridge with
// --fail-closed has denied the call, others let it go on.
const Unanswered = "hookd was killed before its hooks had answered"

// takesTime reports whether a kill is likely to come before the answer of a hook: rules answer at once.
func takesTime(m match.Match) bool { return m.Unfit == "" && m.Hook.Type != hook.Rules }

// undecided notes that e waits for its hooks.
func (ds *decisions) undecided(e *events.Event) {
	rec := ds.decided(e, allowed(), nil)
	rec.Reason, rec.Told = Unanswered, &wire.Told{Unsure: Unanswered}
	if k := e.Contract.Kind; k == events.KindToolBefore || k == events.KindPermissionRequest {
		rec.Guarded = wire.GuardedAsked
	}
	ds.recorder.Deciding(rec, false, true)
}

// untaken says why the answer of a run does not count as it was meant; "" = it does.
func untaken(a *attempt) string {
	if a.run.Failure == wire.FailurePasses {
		return "it failed, which denies nothing here: " + a.run.Cause
	}
	return a.answer.Warning
}

// newInput returns the input that hooks gave a call for its record, and the call's subject now.
func (ds *decisions) newInput(e *events.Event, input json.RawMessage) (kept json.RawMessage, subject string) {
	now := *e
	if e.Contract.Target != "" {
		now.Data = rawjson.With(e.Data, rawjson.Member{Key: e.Contract.Target, Value: input})
		_, subject = dialect.Subject(&now, ds.opts.Redact)
	}
	kept = bytes.Clone(input)
	if ds.opts.Redact != nil {
		kept = ds.opts.Redact(kept)
	}
	if len(kept) > wire.NewInputBytes {
		cut := validPart(string(kept[:wire.NewInputBytes]))
		kept = rawjson.Quote(fmt.Sprintf("%s… (%d bytes in all)", cut, len(input)))
	}
	return kept, subject
}

// recordDecision hands a decision over after the runs that led to it and the decisions of
// its session before it: at once, unless a background child of a hook still holds a pipe, or
// held one then. The verdict does not wait for that.
func (ds *decisions) recordDecision(
	rec *wire.Decision, e *events.Event, done []*attempt, w trackedCall, settle func(*wire.Decision),
) {
	hears := ds.hears(rec, e, w)
	open := slices.ContainsFunc(done, func(a *attempt) bool { return a.recorded != nil })
	late := open || hears != nil || settle != nil && w.call == nil // which reads the history
	before, recorded := ds.order.take(rec, late)
	if !late && before == nil {
		ds.recordNow(rec, settle)
		return
	}
	ds.recordLater(rec, !open, before, recorded, settle, func() {
		waitRecorded(done)
		if hears != nil {
			hears()
		}
	})
}

// recordNow hands a decision over. settle completes it; nil = it is complete.
func (ds *decisions) recordNow(rec *wire.Decision, settle func(*wire.Decision)) {
	if settle != nil {
		settle(rec)
	}
	ds.recorder.Decided(rec)
	ds.tell(rec)
}

// tell reports a call that hookd was not asked about, or whose denial was not obeyed.
func (ds *decisions) tell(rec *wire.Decision) {
	bad := rec.Guarded == wire.GuardedDisobeyed || rec.Guarded == wire.GuardedNotAsked
	if bad && !rec.Tried && ds.opts.Unguarded != nil {
		ds.opts.Unguarded(rec)
	}
}

// hearTime is how long a decision waits for its sender to report the words that the agent heard: the sender
// has the verdict, and only writes it.
const hearTime = 10 * time.Second

// hears returns a function that waits until the sender of e reports the words that its agent was told. The
// function puts them into rec; nil = e tells nothing. A rec that a kill of hookd leaves says that they are
// not known.
func (ds *decisions) hears(rec *wire.Decision, e *events.Event, w trackedCall) func() {
	h := e.Hearing
	if h == nil {
		return nil
	}
	rec.Told = &wire.Told{Unsure: Unheard}
	return func() {
		t := h.Wait(ds.ctx, hearTime)
		if w.past != nil && t.Decision == wire.OutcomeDeny {
			w.past(wire.OutcomeDeny)
		} else if w.past != nil {
			w.past(wire.OutcomeAsk)
		}
		if e.Unattended && t.Decision == wire.OutcomeAsk { // which its agent takes for that
			t.Decision, t.Rewrote = wire.OutcomeDeny, false
		}
		t.Reason = ds.records.clean(t.Reason)
		rec.Hear(t)
		ds.calls.decided(w.call, rec, ds.calls.of(w.call).changed)
	}
}

// recordLater hands a decision over as recordNow does when wait has returned and before is closed, then
// calls recorded. It does not wait. soon is as in Recorder.Deciding.
func (ds *decisions) recordLater(
	rec *wire.Decision, soon bool, before <-chan struct{}, recorded func(), settle func(*wire.Decision), wait func(),
) {
	ds.recorder.Deciding(rec, soon, false)
	ds.pending.Go(func() {
		defer recorded()
		wait()
		if before != nil {
			<-before
		}
		ds.recordNow(rec, settle)
	})
}

// waitRecorded returns when the runs of all attempts are recorded.
func waitRecorded(list []*attempt) {
	for _, a := range list {
		if a.recorded != nil {
			<-a.recorded
		}
	}
}

// outcomeOf says in a word which decision a verdict is, and why.
func outcomeOf(v *verdict.Verdict) (wire.Outcome, string) {
	switch {
	case !v.Allowed || !v.Continue || v.PermissionDecision == "deny":
		return wire.OutcomeDeny, verdict.WhyDenied(v)
	case v.PermissionDecision == "ask":
		return wire.OutcomeAsk, v.DecisionReason
	case len(v.Contain) > 0:
		return wire.OutcomeContain, v.DecisionReason
	case v.PermissionDecision == "allow" || v.PermissionAllowed:
		return wire.OutcomeAllow, v.DecisionReason
	}
	return wire.OutcomeNone, ""
}

// rewrote names the parts that a verdict replaces or adds.
func rewrote(v *verdict.Verdict) (parts []string) {
	for _, part := range []struct {
		name string
		set  bool
	}{
		{"input", v.UpdatedInput != nil && v.Allowed},
		{"result", v.UpdatedToolResponse != nil},
		{"messages", v.UpdatedMessages != nil},
		{"context", v.AdditionalContext != ""},
	} {
		if part.set {
			parts = append(parts, part.name)
		}
	}
	return parts
}

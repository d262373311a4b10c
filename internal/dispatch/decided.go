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
	"github.com/hookd/hookd/wire"
)

// allowed is the verdict on an event that no hook decides.
func allowed() *verdict.Verdict { return &verdict.Verdict{Allowed: true, Continue: true} }

// decided makes the record of a decision that the attempts done have led to.
func (d *Dispatcher) decided(e *events.Event, v *verdict.Verdict, done []*attempt) *wire.Decision {
	outcome, reason := outcomeOf(v)
	rec := &wire.Decision{
		EventID: e.EventID, EventSeq: e.Seq, Time: e.Time,
		Event: e.Envelope.Event, Kind: e.Contract.Kind, Dialect: e.Dialect,
		AgentID: e.AgentID, AgentName: e.AgentName, SessionID: e.SessionID, Cwd: e.Cwd,
		Tool: e.Tool, Subject: e.Subject, CallID: e.CallID, Tried: e.Tried,
		Decision: outcome, Reason: d.clean(reason), DecidedBy: v.DecidedBy, Rewrote: rewrote(v),
		DurationMS: ms(max(0, time.Since(e.Time))),
	}
	if e.Contract.Kind == events.KindToolBefore && (outcome == wire.OutcomeDeny || outcome == wire.OutcomeAsk) {
		rec.CallSum = d.opts.Asks.Identify(e)
	}
	for _, a := range done {
		if a.run.ID != "" {
			rec.Runs = append(rec.Runs, a.run.ID)
		}
		if why := untaken(a); why != "" {
			rec.Untaken = append(rec.Untaken, a.run.Hook+": "+d.clean(why))
		}
		if slices.Contains(v.DecidedBy, a.match.Hook.Name) {
			rec.Earlier = append(rec.Earlier, a.out.Earlier...)
		}
	}
	if v.Allowed && v.UpdatedInput != nil {
		rec.NewInput, rec.NewSubject = d.newInput(e, v.UpdatedInput)
	}
	if v.Contains() {
		rec.Contained = v.Contain[0]
	}
	return rec
}

// untaken says why the answer of a run does not count as it was meant; "" = it does.
func untaken(a *attempt) string {
	if a.run.Failure == wire.FailurePasses {
		return "it failed, which denies nothing here: " + a.run.Cause
	}
	return a.answer.Warning
}

// newInput returns the input that hooks gave a call for its record, and the call's subject now.
func (d *Dispatcher) newInput(e *events.Event, input json.RawMessage) (kept json.RawMessage, subject string) {
	now := *e
	if e.Contract.Target != "" {
		now.Data = rawjson.With(e.Data, rawjson.Member{Key: e.Contract.Target, Value: input})
		_, subject = dialect.Subject(&now, d.opts.Redact)
	}
	kept = bytes.Clone(input)
	if d.opts.Redact != nil {
		kept = d.opts.Redact(kept)
	}
	if len(kept) > wire.NewInputBytes {
		cut := validPart(string(kept[:wire.NewInputBytes]))
		kept = rawjson.Quote(fmt.Sprintf("%s… (%d bytes in all)", cut, len(input)))
	}
	return kept, subject
}

// About fills in an event's subject, where it has one: its canonical tool, one line
// without secrets, and the id of the call.
func (d *Dispatcher) About(e *events.Event) { d.about(e) }

// about is About, and returns the call.
func (d *Dispatcher) about(e *events.Event) (about *call) {
	e.Tool, e.Subject = dialect.Subject(e, d.opts.Redact)
	e.CallID, about = d.calls.note(e)
	return about
}

// recordDecision hands a decision over after the runs that led to it and the decisions of
// its session before it: at once, unless a background child of a hook still holds a pipe, or
// held one then. The verdict does not wait for that.
func (d *Dispatcher) recordDecision(rec *wire.Decision, e *events.Event, done []*attempt, w way) {
	hears, settle := d.hears(rec, e, w.call), d.settling(e, w)
	open := slices.ContainsFunc(done, func(a *attempt) bool { return a.recorded != nil })
	late := open || hears != nil || settle != nil && w.call == nil // which reads the history
	before, recorded := d.turns.take(rec, late)
	if !late && before == nil {
		d.recordNow(rec, settle)
		return
	}
	d.recordLater(rec, !open, before, recorded, settle, func() {
		waitRecorded(done)
		if hears != nil {
			hears()
		}
	})
}

// recordNow hands a decision over. settle completes it; nil = it is complete.
func (d *Dispatcher) recordNow(rec *wire.Decision, settle func(*wire.Decision)) {
	if settle != nil {
		settle(rec)
	}
	d.recorder.Decided(rec)
	d.tell(rec)
}

// hearTime is how long a decision waits for its sender to report the words that the agent heard: the sender
// has the verdict, and only writes it.
const hearTime = 10 * time.Second

// hears returns a function that waits until the sender of e reports the words that its agent was told. The
// function puts them into rec; nil = e tells nothing. A rec that a kill of hookd leaves says that they are
// not known.
func (d *Dispatcher) hears(rec *wire.Decision, e *events.Event, about *call) func() {
	h := e.Hearing
	if h == nil {
		return nil
	}
	rec.Told = &wire.Told{Unsure: "hookd was killed before its bridge said so"}
	return func() {
		t := h.Wait(d.ctx, hearTime)
		if e.Unasked && t.Decision == wire.OutcomeAsk { // which its agent takes for that
			t.Decision = wire.OutcomeDeny
		}
		t.Reason = d.clean(t.Reason)
		rec.Hear(t)
		d.calls.decided(about, rec, d.calls.of(about).changed)
	}
}

// recordLater hands a decision over as recordNow does when wait has returned and before is closed, then
// calls recorded. It does not wait. soon is as in Recorder.Deciding.
func (d *Dispatcher) recordLater(
	rec *wire.Decision, soon bool, before <-chan struct{}, recorded func(), settle func(*wire.Decision), wait func(),
) {
	d.recorder.Deciding(rec, soon)
	d.pending.Add(1)
	go func() {
		defer d.pending.Done()
		defer recorded()
		wait()
		if before != nil {
			<-before
		}
		d.recordNow(rec, settle)
	}()
}

// waitRecorded returns when the runs of all attempts are recorded.
func waitRecorded(list []*attempt) {
	for _, a := range list {
		if a.recorded != nil {
			<-a.recorded
		}
	}
}

// OutcomeOf says in a word which decision a verdict is, and why. It also names the parts that it replaces or
// adds.
func OutcomeOf(v *verdict.Verdict) (o wire.Outcome, reason string, parts []string) {
	o, reason = outcomeOf(v)
	return o, reason, rewrote(v)
}

// outcomeOf says in a word which decision a verdict is, and why.
func outcomeOf(v *verdict.Verdict) (wire.Outcome, string) {
	switch {
	case !v.Allowed || !v.Continue || v.PermissionDecision == "deny":
		return wire.OutcomeDeny, cmp.Or(v.Message, v.DecisionReason, v.StopReason)
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

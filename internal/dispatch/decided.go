package dispatch

import (
	"cmp"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/verdict"
)

// decided makes the record of a decision that the attempts done have led to.
func (d *Dispatcher) decided(e *events.Event, v *verdict.Verdict, done []*attempt) *events.Decided {
	outcome, reason := outcomeOf(v)
	rec := &events.Decided{
		EventID: e.EventID, EventSeq: e.Seq, Time: e.Time,
		Event: e.Envelope.Event, Kind: e.Contract.Kind, Dialect: e.Dialect,
		AgentID: e.AgentID, AgentName: e.AgentName, SessionID: e.SessionID, Cwd: e.Cwd,
		Tool: e.Tool, Subject: e.Subject,
		Decision: outcome, Reason: d.clean(reason), DecidedBy: v.DecidedBy, Rewrote: rewrote(v),
		DurationMS: ms(max(0, time.Since(e.Time))),
	}
	for _, a := range done {
		if a.run.ID != "" {
			rec.Runs = append(rec.Runs, a.run.ID)
		}
	}
	return rec
}

// About returns the canonical tool of an event and, on one line without secrets, what
// it is about; "" = nothing to say.
func (d *Dispatcher) About(e *events.Event) (tool, subject string) {
	return dialect.Subject(e, d.opts.Redact)
}

// recordDecision hands a decision over after the runs that led to it and the decisions of
// its session before it: at once, unless a background child of a hook still holds a pipe, or
// held one then. The verdict does not wait for that.
func (d *Dispatcher) recordDecision(rec *events.Decided, done []*attempt) {
	late := slices.ContainsFunc(done, func(a *attempt) bool { return a.recorded != nil })
	before, recorded := d.turns.take(rec, late)
	if !late && before == nil {
		d.recorder.Decided(rec)
		return
	}
	d.recordLater(rec, before, recorded, func() { waitRecorded(done) })
}

// recordLater hands a decision over when wait has returned and before is closed, then calls
// recorded. It does not wait.
func (d *Dispatcher) recordLater(rec *events.Decided, before <-chan struct{}, recorded func(), wait func()) {
	d.recorder.Deciding(rec)
	d.pending.Add(1)
	go func() {
		defer d.pending.Done()
		defer recorded()
		wait()
		if before != nil {
			<-before
		}
		d.recorder.Decided(rec)
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

// OutcomeOf says in a word what a verdict is and why, and names what it replaces or adds.
func OutcomeOf(v *verdict.Verdict) (o events.Outcome, reason string, parts []string) {
	o, reason = outcomeOf(v)
	return o, reason, rewrote(v)
}

// outcomeOf says in a word what a verdict is, and why.
func outcomeOf(v *verdict.Verdict) (events.Outcome, string) {
	switch {
	case !v.Allowed || !v.Continue || v.PermissionDecision == "deny":
		return events.OutcomeDeny, cmp.Or(v.Message, v.DecisionReason, v.StopReason)
	case v.PermissionDecision == "ask":
		return events.OutcomeAsk, v.DecisionReason
	case v.PermissionDecision == "allow" || v.PermissionAllowed:
		return events.OutcomeAllow, v.DecisionReason
	}
	return events.OutcomeNone, ""
}

// rewrote names what a verdict replaces or adds.
func rewrote(v *verdict.Verdict) (parts []string) {
	for _, part := range []struct {
		name string
		set  bool
	}{
		{"input", v.UpdatedInput != nil},
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

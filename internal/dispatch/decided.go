package dispatch

import (
	"cmp"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/escape"
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

// clean is a hook's text for a record: without secrets, and bounded.
func (d *Dispatcher) clean(text string) string {
	if text == "" {
		return ""
	}
	if len(text) > 2*events.ReasonBytes {
		text = text[:2*events.ReasonBytes]
	}
	text = d.redacted(text)
	if len(text) > events.ReasonBytes {
		text = text[:events.ReasonBytes]
	}
	return validPart(text)
}

func (d *Dispatcher) redacted(text string) string {
	if d.opts.Redact == nil {
		return text
	}
	return string(d.opts.Redact([]byte(text)))
}

// lastWords is how much of what a failed run printed last its error has.
const lastWords = 200

// said returns the last line that a run printed to stderr, for people; "" = none.
func (d *Dispatcher) said(o events.Output) string {
	line := lastLine(cmp.Or(o.Tail, o.Head))
	if line == "" {
		return ""
	}
	return escape.Line(d.redacted(line), lastWords)
}

// note adds to an attempt what its hook answered; to a failed one what the hook
// said last, and where to look further.
func (d *Dispatcher) note(a *attempt) {
	if !failed(a.run.Result) {
		outcome, reason := a.answer.Says(a.contract)
		a.run.Decision, a.run.Reason = outcome, d.clean(reason)
		return
	}
	said := d.said(a.out.Stderr)
	a.run.Error = withWords(a.run.Error, said)
	if a.answer.Failure != "" {
		a.answer.Failure = withWords(a.answer.Failure, said)
		name := a.match.Hook.Quoted()
		a.answer.See = "see: hookd logs " + name + "; to switch it off: hookd disable " + name
	}
}

// lastLine is the last line of text that is not blank.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

func withWords(why, said string) string {
	if said == "" || why == "" {
		return cmp.Or(why, said)
	}
	return why + ": " + said
}

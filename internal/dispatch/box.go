package dispatch

import (
	"encoding/json"
	"strings"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// Boxes runs calls in boxes. Its methods do not wait for anything that can hang.
type Boxes interface {
	// Cannot says why the call of e cannot run in a box as v wants it; "" = it can.
	Cannot(e *events.Event, v *verdict.Verdict) string
	// Opens returns the ways out of its box that a person is asked to open for the call of e, which
	// Cannot has nothing against; nil = none.
	Opens(e *events.Event, v *verdict.Verdict) []string
	// Box returns v with the call in a box, for an event that Cannot has nothing against. lasts: the ways
	// out that v opens are open for the session.
	Box(e *events.Event, v *verdict.Verdict, lasts bool) *verdict.Verdict
	// Plain returns the data of an event about a call in a box as if there were none; nil = it is
	// about no such call.
	Plain(e *events.Event) json.RawMessage
	// Ran returns how the box of the call ended that e, a plain event after it, is about; nil = it had
	// none, or that is not known. bare: it had a box and ran without one. before is the id of the event
	// before the call; "" = not known for certain. failed: it did not succeed.
	Ran(e *events.Event, before string, failed bool) (end *wire.BoxEnd, bare bool)
}

// noBoxes has none: each call is asked about.
type noBoxes struct{}

func (noBoxes) Cannot(*events.Event, *verdict.Verdict) string { return "no box is there to contain it" }

func (noBoxes) Opens(*events.Event, *verdict.Verdict) []string                   { return nil }
func (noBoxes) Box(_ *events.Event, v *verdict.Verdict, _ bool) *verdict.Verdict { return v }
func (noBoxes) Plain(*events.Event) json.RawMessage                              { return nil }
func (noBoxes) Ran(*events.Event, string, bool) (*wire.BoxEnd, bool)             { return nil, false }

// containable returns v, or a verdict that asks where the call cannot run in the box that v wants, or
// only with a way out, and why. A call that cannot be contained never runs without a question.
func (vs *verdicts) containable(e *events.Event, v *verdict.Verdict) (_ *verdict.Verdict, why string) {
	if !v.Contains() {
		return v, ""
	}
	if why = vs.opts.Boxes.Cannot(e, v); why != "" {
		why = "it cannot be contained: " + why
		return verdict.Uncontained(v, why), why
	}
	if ways := vs.opts.Boxes.Opens(e, v); len(ways) > 0 {
		why = "its box kept it from " + strings.Join(ways, ", ")
		return verdict.Opening(v, ways, why), why
	}
	return v, ""
}

// boxed is the last step to a verdict, when all hooks have judged the plain call and a person has
// answered: a call that is contained gets its box. One that is asked about gets it only where its agent asks
// a person itself.
func (vs *verdicts) boxed(e *events.Event, v *verdict.Verdict, answered *wire.Answered) *verdict.Verdict {
	if !v.Contains() {
		return v
	}
	if v.Asks() && !dialect.AsksItself(e) {
		return verdict.Declined(v, v.DecisionReason) // no person answers any more: no box, and no open way
	}
	if v.Asks() && len(v.Opens) > 0 {
		v = verdict.Unanswered(v, v.DecisionReason+": yes opens that way and no other")
	}
	lasts := answered != nil && answered.Answer == wire.OutcomeAllow && answered.For != "" && answered.For != "once"
	return vs.opts.Boxes.Box(e, v, lasts)
}

package dispatch

import (
	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// UndoKeeper keeps the files that calls are about to destroy. Its methods are called without a slot or a lock.
type UndoKeeper interface {
	// Keep is called with a call that no hook denies, before its sender or a person hears about it. It
	// returns soon, whatever the file system does. e has the input that will run.
	Keep(e *events.Event) Keeping
	// Drop is called when the call does not go on after all.
	Drop(e *events.Event)
	// Note is called with each other event of a tool call or a session. It must not block, and
	// must not hold on to e.
	Note(e *events.Event)
}

// Keeping is the report of an UndoKeeper on a call. The zero Keeping says nothing.
type Keeping struct {
	Kept *wire.Kept // nil = it destroys nothing that is known
	Tell bool       // something is known that it destroys: the agent's own question says what comes back
	Deny string     // why the call must not go on
	Ask  string     // why a person has to decide
}

// forUndo reports whether an UndoKeeper is told of events of a kind.
func (ac *acceptor) forUndo(e *events.Event) bool {
	if ac.opts.Keeper == nil || e.Tried || e.ReplayOf != "" || e.Machine != "" {
		return false
	}
	switch e.Contract.Kind {
	case events.KindToolBefore, events.KindToolAfter, events.KindPromptSubmit, events.KindTurnStop,
		events.KindSessionStart, events.KindSessionEnd:
		return true
	}
	return false
}

// tellsKept returns v with the words on what can be taken back, if v leaves the question to the agent.
func (a *acceptance) tellsKept(v *verdict.Verdict) *verdict.Verdict {
	if !a.tells || !v.Asks() {
		return v
	}
	return verdict.Unanswered(v, v.DecisionReason+"; "+escape.Line(a.undo.Says(), mostKept))
}

// mostKept bounds these words, in bytes.
const mostKept = 400

// keepFirst keeps the files that a call is about to destroy, if v lets it pass. It returns the verdict on the
// call.
func (a *acceptance) keepFirst(v *verdict.Verdict) *verdict.Verdict {
	e := a.event
	if outcome, _ := outcomeOf(v); outcome == wire.OutcomeDeny || e.Contract.Kind != events.KindToolBefore ||
		!a.d.forUndo(e) {
		return v
	}
	now := *e
	if v.UpdatedInput != nil {
		change := verdict.Answer{Terms: verdict.Terms{Blocking: true}, UpdatedInput: v.UpdatedInput}
		now.Data = change.Rewrite(e.Contract, e.Data)
	}
	k := a.d.opts.Keeper.Keep(&now)
	a.undo, a.tells = k.Kept, k.Tell
	switch {
	case k.Deny != "":
		v = verdict.Declined(v, k.Deny)
	case k.Ask != "" && !v.Asks():
		v = verdict.Asked(v, k.Ask)
	default:
		return v
	}
	v.DecidedBy = append(v.DecidedBy[:len(v.DecidedBy):len(v.DecidedBy)], "undo")
	a.ruled = true
	return v
}

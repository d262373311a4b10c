package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/wire"
)

// Where nothing else is asked for, so much of the past is looked at.
const lookBack = 24 * time.Hour

// The default and the largest number of decisions in an answer.
const (
	usualAnswer = 50
	mostAnswer  = 5000
)

// word is the word of a machine on a part of areaNow.
type word[T any] struct {
	machine string
	v       T
	when    time.Time // by the clock of this machine
	bad     error     // why it does not count: v says nothing; nil = it counts
}

// look reads the word of each machine on a part of areaNow. A message that cannot be read, or that names another
// machine than its subject, is bad.
func look[T any](
	ctx context.Context, b engine.Reader, n Names, what string,
	of func(T) (machine string, sent time.Time), each func(word[T]),
) error {
	var list []word[T]
	var own time.Duration // this machine's clock is ahead of the servers' by so much
	q := engine.Query{Stream: n.stream(areaNow), Subject: n.all(areaNow, what)}
	err := b.Read(ctx, q, func(m engine.Stored) bool {
		machine, _, ok := n.sender(m.Subject, areaNow)
		if !ok {
			return true
		}
		w := word[T]{machine: machine, when: m.Time}
		w.bad = json.Unmarshal(m.Data, &w.v)
		named, sent := of(w.v)
		if w.bad == nil && named != machine {
			w.bad = fmt.Errorf("it says that it is of %q", named)
		}
		if w.bad == nil && machine == n.Machine {
			own = sent.Sub(m.Time)
		}
		list = append(list, w)
		return true
	})
	for _, w := range list {
		w.when = w.when.Add(own)
		each(w)
	}
	return err
}

// Machines returns the newest facts of each machine. Their times are by the clock of this one.
func (f *Fleet) Machines(ctx context.Context) ([]wire.FleetMachine, error) {
	return Machines(ctx, f.opts.Broker, f.names)
}

// Machines returns the newest facts of each machine of a tenant, unsigned.
func Machines(ctx context.Context, b engine.Reader, n Names) (list []wire.FleetMachine, err error) {
	of := func(m wire.FleetMachine) (string, time.Time) { return m.Machine, m.Time }
	err = look(ctx, b, n, nowMachine, of, func(w word[wire.FleetMachine]) {
		m := w.v
		m.ClockMS = m.Time.Sub(w.when).Milliseconds()
		if w.bad != nil {
			m = wire.FleetMachine{
				Machine: w.machine,
				Trouble: "its report cannot be read: " + w.bad.Error() + "; it has another version of hookd, or its key is stolen",
			}
		}
		m.Time, m.Away = w.when, time.Since(w.when) > awayAfter
		list = append(list, m)
	})
	slices.SortFunc(list, func(a, b wire.FleetMachine) int { return cmp.Compare(a.Machine, b.Machine) })
	return list, err
}

func (s said) from() (machine string, sent time.Time) { return s.Machine, s.Sent }

// Asks returns the asks of all machines that wait for an answer, the oldest first. An ask ends by
// the clock of its machine.
func (f *Fleet) Asks(ctx context.Context) (wire.FleetAsks, error) {
	list := []wire.FleetAsk{}
	err := look(ctx, f.opts.Broker, f.names, nowAsks, said.from, func(w word[said]) {
		s := w.v
		if w.bad != nil {
			return
		}
		for _, a := range s.Asks {
			if time.Since(w.when) > a.Until.Sub(s.Sent) || a.Answered != nil {
				continue
			}
			of := wire.FleetAsk{Machine: s.Machine, Ask: a}
			if a.Card != nil {
				of.About = a.Card.Digest
			}
			list = append(list, of)
		}
	})
	slices.SortFunc(list, func(a, b wire.FleetAsk) int { return cmp.Compare(a.Ask.ID, b.Ask.ID) })
	return wire.FleetAsks{Asks: list}, err
}

// Sessions returns the sessions of all machines that fit, the one with the newest event
// first.
func (f *Fleet) Sessions(ctx context.Context, q wire.SessionQuery) (wire.FleetSessions, error) {
	list := []wire.FleetSession{}
	err := look(ctx, f.opts.Broker, f.names, nowSessions, said.from, func(w word[said]) {
		if w.bad != nil {
			return
		}
		for _, session := range w.v.Sessions { // as they were when the newest of them had an event
			session.State = wire.Aged(session.State, session.Last, time.Now())
			if q.Fits(&session) {
				list = append(list, wire.FleetSession{Machine: w.machine, Session: session})
			}
		}
	})
	slices.SortFunc(list, func(a, b wire.FleetSession) int { return b.Session.Last.Compare(a.Session.Last) })
	limit := min(cmp.Or(q.Limit, usualAnswer), mostAnswer)
	return wire.FleetSessions{Sessions: list[:min(len(list), limit)]}, err
}

// Decisions returns the newest decisions of all machines that fit, or with q.After the first
// ones after it, so that a reader who goes on misses none. Each is there once: a decision that was
// sent twice stands in the log twice.
func (f *Fleet) Decisions(ctx context.Context, q wire.FleetQuery) (page wire.FleetDecisions, err error) {
	limit := min(cmp.Or(q.Limit, usualAnswer), mostAnswer)
	machines, seen := wire.List(q.Machine), map[string]bool{}
	var list []wire.FleetDecision
	read := engine.Query{Stream: f.names.stream(areaLog), After: q.After}
	if q.After == 0 {
		read.Since = q.Since
		if read.Since.IsZero() {
			read.Since = time.Now().Add(-lookBack)
		}
	}
	page.Through = q.After
	err = f.opts.Broker.Read(ctx, read, func(m engine.Stored) bool {
		page.Through = m.Seq
		machine, _, ok := f.names.sender(m.Subject, areaLog)
		var d wire.FleetDecision
		if !ok || json.Unmarshal(m.Data, &d) != nil || d.Machine != machine || seen[machine+"/"+m.ID] ||
			len(machines) > 0 && !slices.Contains(machines, machine) || !q.Fits(&d.Decision) {
			return true
		}
		seen[machine+"/"+m.ID] = true
		list = append(list, d)
		if q.After > 0 {
			return len(list) < limit
		}
		if len(list) >= 2*limit {
			list = append([]wire.FleetDecision{}, list[len(list)-limit:]...)
		}
		return true
	})
	list = list[max(0, len(list)-limit):]
	slices.SortStableFunc(list, func(a, b wire.FleetDecision) int { return b.Decision.Time.Compare(a.Decision.Time) })
	page.Decisions = append([]wire.FleetDecision{}, list...)
	return page, err
}

// Refusal is err for a person who reads; nil of nil.
func Refusal(err error) *wire.Error {
	if err == nil {
		return nil
	}
	if errors.Is(err, engine.ErrForbidden) {
		return &wire.Error{
			Code: wire.CodeForbidden, Message: err.Error(),
			Hint: "type it on a machine that the servers know by `hookd fleet user MACHINE KEY --role worker`",
		}
	}
	return &wire.Error{
		Code: wire.CodeInternal, Message: "the fleet cannot be read: " + err.Error(),
		Hint: "see `hookd fleet status`; what happened on this machine is there without --fleet",
	}
}

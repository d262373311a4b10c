package fleet

import (
	"cmp"
	"context"
	"encoding/json"
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

// look reads the word of each machine on a part of areaNow. A message that stands under another name
// than its own is left out. when is the time of a message by the clock of this machine.
func look[T any](
	ctx context.Context, b engine.Reader, n Names, what string,
	of func(T) (machine string, sent time.Time), each func(v T, when time.Time),
) error {
	type message struct {
		v    T
		when time.Time
	}
	var list []message
	var own time.Duration // this machine's clock is ahead of the servers' by so much
	q := engine.Query{Stream: n.stream(areaNow), Subject: n.all(areaNow, what)}
	err := b.Read(ctx, q, func(m engine.Stored) bool {
		machine, _, ok := n.sender(m.Subject, areaNow)
		var v T
		if !ok || json.Unmarshal(m.Data, &v) != nil {
			return true
		}
		named, sent := of(v)
		if named != machine {
			return true
		}
		if machine == n.Machine {
			own = sent.Sub(m.Time)
		}
		list = append(list, message{v, m.Time})
		return true
	})
	for _, m := range list {
		each(m.v, m.when.Add(own))
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
	err = look(ctx, b, n, nowMachine, of, func(m wire.FleetMachine, when time.Time) {
		m.ClockMS = m.Time.Sub(when).Milliseconds()
		m.Time, m.Away = when, time.Since(when) > awayAfter
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
	err := look(ctx, f.opts.Broker, f.names, nowAsks, said.from, func(s said, when time.Time) {
		for _, a := range s.Asks {
			if time.Since(when) > a.Until.Sub(s.Sent) || a.Answered != nil {
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
	err := look(ctx, f.opts.Broker, f.names, nowSessions, said.from, func(s said, _ time.Time) {
		for _, session := range s.Sessions {
			if q.Fits(&session) {
				list = append(list, wire.FleetSession{Machine: s.Machine, Session: session})
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
		if !ok || json.Unmarshal(m.Data, &d) != nil || d.Machine != machine || seen[m.ID] ||
			len(machines) > 0 && !slices.Contains(machines, machine) || !q.Fits(&d.Decision) {
			return true
		}
		seen[m.ID] = true
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
	return &wire.Error{
		Code: wire.CodeInternal, Message: "the fleet cannot be read: " + err.Error(),
		Hint: "see `hookd fleet status`; what happened on this machine is there without --fleet",
	}
}

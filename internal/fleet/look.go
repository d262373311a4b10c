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

// look reads the newest message of each subject of a kind, as each machine published it: the
// stream keeps no other. A message that stands under another name than its own is left out.
func look[T any](ctx context.Context, f *Fleet, machineOf func(T) string, what ...string) (list []T, err error) {
	q := engine.Query{Stream: f.names.stream(areaNow), Subject: f.names.all(areaNow, what...)}
	err = f.opts.Broker.Read(ctx, q, func(m engine.Stored) bool {
		machine, _, ok := f.names.sender(m.Subject, areaNow)
		var v T
		if ok && json.Unmarshal(m.Data, &v) == nil && machineOf(v) == machine {
			list = append(list, v)
		}
		return true
	})
	return list, err
}

// Machines returns the newest facts of each machine.
func (f *Fleet) Machines(ctx context.Context) ([]wire.FleetMachine, error) {
	list, err := look(ctx, f, func(m wire.FleetMachine) string { return m.Machine }, nowMachine)
	for i := range list {
		list[i].Away = time.Since(list[i].Time) > awayAfter
	}
	slices.SortFunc(list, func(a, b wire.FleetMachine) int { return cmp.Compare(a.Machine, b.Machine) })
	return list, err
}

// Asks returns the asks of all machines that wait for an answer, the oldest first.
func (f *Fleet) Asks(ctx context.Context) (wire.FleetAsks, error) {
	list, err := look(ctx, f, func(a wire.FleetAsk) string { return a.Machine }, nowAsk, "*")
	ended := func(a wire.FleetAsk) bool { return a.Ask.Answered != nil || time.Now().After(a.Ask.Until) }
	list = slices.DeleteFunc(list, ended)
	slices.SortFunc(list, func(a, b wire.FleetAsk) int { return cmp.Compare(a.Ask.ID, b.Ask.ID) })
	for i := range list {
		if c := list[i].Ask.Card; c != nil {
			list[i].About = c.Digest
		}
	}
	return wire.FleetAsks{Asks: append([]wire.FleetAsk{}, list...)}, err
}

// Sessions returns the sessions of all machines that fit, the one with the newest event
// first.
func (f *Fleet) Sessions(ctx context.Context, q wire.SessionQuery) (wire.FleetSessions, error) {
	list, err := look(ctx, f, func(s wire.FleetSession) string { return s.Machine }, nowSession, "*")
	list = slices.DeleteFunc(list, func(s wire.FleetSession) bool { return !q.Fits(&s.Session) })
	slices.SortFunc(list, func(a, b wire.FleetSession) int { return b.Session.Last.Compare(a.Session.Last) })
	limit := min(cmp.Or(q.Limit, usualAnswer), mostAnswer)
	return wire.FleetSessions{Sessions: append([]wire.FleetSession{}, list[:min(len(list), limit)]...)}, err
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

package recorder

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/wire"
)

// history answers queries.
type history struct {
	*waits
	newest *newest
}

// wholeSessions replaces each id of a list by comma by that of the only session which
// begins or ends so. Where it cannot be looked up the list stays as it is.
func (r *history) wholeSessions(ctx context.Context, sessions *string) *wire.Error {
	if *sessions == "" {
		return nil
	}
	r.flushStored(ctx)
	list := wire.List(*sessions)
	for i, part := range list {
		id, err := r.store.SessionID(ctx, part)
		if errors.Is(err, store.ErrAmbiguous) {
			return &wire.Error{
				Code:    wire.CodeNotFound,
				Message: "more than one session begins or ends so: " + part,
				Hint:    "give more of the id, see `hookd sessions`",
			}
		}
		if err == nil {
			list[i] = id
		}
	}
	*sessions = strings.Join(list, ",")
	return nil
}

// Runs returns the newest runs that match, newest first: from the history, or from
// memory while the history does not have them all, since the store cannot write.
func (r *history) Runs(ctx context.Context, q wire.RunQuery) (wire.Runs, *wire.Error) {
	if bad := r.wholeSessions(ctx, &q.Session); bad != nil {
		return wire.Runs{}, bad
	}
	if !r.Flush(ctx) {
		return wire.Runs{Runs: r.newest.findRuns(q), Recent: true}, nil
	}
	page, err := r.store.Runs(ctx, q)
	if page.Runs == nil {
		page.Runs = []wire.Run{}
	}
	return page, unread("the history", "", err)
}

// Decisions is Runs for decisions.
func (r *history) Decisions(ctx context.Context, q wire.DecisionQuery) (wire.Decisions, *wire.Error) {
	if bad := r.wholeSessions(ctx, &q.Session); bad != nil {
		return wire.Decisions{}, bad
	}
	if !r.Flush(ctx) {
		return wire.Decisions{Decisions: r.newest.findDecisions(q), Recent: true}, nil
	}
	page, err := r.store.Decisions(ctx, q)
	if page.Decisions == nil {
		page.Decisions = []wire.Decision{}
	}
	return page, unread("the decisions", "", err)
}

// CountDecisions counts the decisions that Decisions finds, in the history alone.
func (r *history) CountDecisions(ctx context.Context, q wire.CountQuery) (wire.Counts, *wire.Error) {
	if bad := r.wholeSessions(ctx, &q.Session); bad != nil {
		return wire.Counts{}, bad
	}
	r.Flush(ctx)
	counts, err := r.store.CountDecisions(ctx, q.DecisionQuery, q.Every)
	return counts, unread("the decisions", "", err)
}

// Accepted returns which events were accepted.
func (r *history) Accepted(ctx context.Context, q wire.EventQuery) (wire.Accepted, *wire.Error) {
	if bad := r.wholeSessions(ctx, &q.Session); bad != nil {
		return wire.Accepted{}, bad
	}
	r.flushEvents(ctx)
	page, err := r.store.Events(ctx, q)
	accepted := wire.Accepted{Events: make([]wire.AcceptedEvent, len(page.Events)), Next: page.Next}
	for i, e := range page.Events {
		head := wire.EventHead{
			EventID: e.EventID, Event: e.Envelope.Event, Time: e.Time, Sender: e.Sender, Dialect: e.Dialect,
			SessionID: e.SessionID, AgentID: e.AgentID, AgentName: e.AgentName, Cwd: e.Cwd, Parent: e.Parent,
			Tool: e.Tool, Subject: e.Subject, CallID: e.CallID, Tried: e.Tried, ReplayOf: e.ReplayOf,
		}
		accepted.Events[i] = wire.AcceptedEvent{
			EventHead: head, Seq: e.Seq, Kind: e.Contract.Kind, ByAgent: e.ByAgent, Wait: e.Wait,
			Bytes: e.Size, Whole: e.Whole,
		}
	}
	return accepted, unread("the events", "", err)
}

// Past returns which events could be decided, with their data and the decisions.
func (r *history) Past(ctx context.Context, q wire.EventQuery) (wire.Past, *wire.Error) {
	r.flushEvents(ctx)
	if q.Limit <= 0 || q.Limit > wire.MaxPast {
		q.Limit = wire.MaxPast
	}
	page, err := r.store.Past(ctx, q)
	past := wire.Past{Events: make([]wire.StoredEvent, len(page.Events)), Next: page.Next}
	for i, e := range page.Events {
		past.Events[i] = shown(e.StoredEvent)
		past.Events[i].Decision = e.Decision
	}
	return past, unread("the events", "", err)
}

// Sessions returns the known state of sessions. Held sessions wait for a person,
// which only memory knows.
func (r *history) Sessions(
	ctx context.Context,
	q wire.SessionQuery,
	held []store.SessionKey,
) (wire.Sessions, *wire.Error) {
	if bad := r.wholeSessions(ctx, &q.Session); bad != nil {
		return wire.Sessions{}, bad
	}
	r.flushEvents(ctx)
	list, err := r.store.Sessions(ctx, q, held)
	if list == nil {
		list = []wire.Session{}
	}
	return wire.Sessions{Sessions: list}, unread("the sessions", "", err)
}

// Run returns the run with this id, or the only one whose id begins or ends so.
func (r *history) Run(ctx context.Context, id string) (wire.Run, *wire.Error) {
	run, err := r.run(ctx, id)
	return run, unread("run", id, err)
}

func (r *history) run(ctx context.Context, id string) (wire.Run, error) {
	if run, n := r.newest.findRun(id); n == 1 && run.ID == strings.ToUpper(id) || !r.Flush(ctx) {
		switch n {
		case 1:
			return run, nil
		case 0:
			return run, store.ErrNotFound
		}
		return run, fmt.Errorf("run %s: %w", id, store.ErrAmbiguous)
	}
	return r.store.Run(ctx, id)
}

// Event returns an event as the history has it.
func (r *history) Event(ctx context.Context, id string) (wire.StoredEvent, *wire.Error) {
	e, bad := r.Stored(ctx, id)
	if bad != nil {
		return wire.StoredEvent{}, bad
	}
	shown := shown(e)
	var err error
	shown.Decision, err = r.store.Decision(ctx, e.Event)
	return shown, unread("the decision about event", id, err)
}

// Stored is Event as the store has it, without the decision.
func (r *history) Stored(ctx context.Context, id string) (store.StoredEvent, *wire.Error) {
	r.flushEvents(ctx)
	e, err := r.store.Event(ctx, id)
	return e, unread("event", id, err)
}

// Last returns the newest event that an agent has sent.
func (r *history) Last(ctx context.Context, agent events.Dialect, except string) (wire.StoredEvent, *wire.Error) {
	r.flushEvents(ctx)
	e, err := r.store.Last(ctx, agent, except)
	if err != nil {
		return wire.StoredEvent{}, unread("event", "of "+string(agent), err)
	}
	return shown(e), nil
}

func shown(e store.StoredEvent) wire.StoredEvent {
	return wire.StoredEvent{
		Envelope: e.Envelope.Sent(), EventID: e.EventID, Seq: e.Seq, Time: e.Time, ReplayOf: e.ReplayOf,
		Bytes: e.Size, Whole: e.Whole, Preview: e.Preview, Redacted: e.Redacted,
		Tool: e.Tool, Subject: e.Subject, CallID: e.CallID,
	}
}

// Stats counts runs by hook.
func (r *history) Stats(ctx context.Context, q wire.StatsQuery) (wire.Stats, *wire.Error) {
	r.Flush(ctx)
	list, err := r.store.Stats(ctx, q)
	stats := wire.Stats{Hooks: []wire.HookStats{}}
	for _, s := range list {
		runs := wire.RunStats{
			Runs: s.Runs, Failures: s.Failures, Denied: s.Denied, WaitedMS: milliseconds(s.Waited),
			P50MS: milliseconds(s.P50), P95MS: milliseconds(s.P95), P99MS: milliseconds(s.P99),
		}
		if q.By != "" && q.By != "hook" {
			stats.Groups = append(stats.Groups, wire.GroupStats{Name: s.Name, RunStats: runs})
		} else {
			stats.Hooks = append(stats.Hooks, wire.HookStats{Hook: s.Name, RunStats: runs})
		}
	}
	return stats, unread("the statistics", "", err)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// DeadLetters returns the dead letters of a hook, of all for "", newest first: limit at
// most, of those before an id.
func (r *history) DeadLetters(
	ctx context.Context,
	hook string,
	before int64,
	limit int,
) (wire.DeadLetters, *wire.Error) {
	r.Flush(ctx)
	list, err := r.store.DeadLetters(ctx, hook, before, limit)
	if list == nil {
		list = []wire.DeadLetter{}
	}
	return wire.DeadLetters{Dead: list}, unread("the dead letters", "", err)
}

// DeadLetter returns one, with the data of its event.
func (r *history) DeadLetter(ctx context.Context, id int64) (wire.DeadLetter, *wire.Error) {
	r.Flush(ctx)
	d, p, err := r.store.DeadLetter(ctx, id)
	if err != nil {
		return wire.DeadLetter{}, unread("dead letter", fmt.Sprint(id), err)
	}
	d.Data = p.Event.Data
	return d, nil
}

// RetryDead makes a dead letter a pending run again, which is due now.
func (r *history) RetryDead(ctx context.Context, id int64) (wire.DeadLetter, events.Pending, *wire.Error) {
	dead, bad := r.DeadLetter(ctx, id)
	if bad != nil {
		return dead, events.Pending{}, bad
	}
	p, err := r.store.RetryDead(ctx, id)
	return dead, p, unread("dead letter", fmt.Sprint(id), err)
}

// DropDead removes a dead letter.
func (r *history) DropDead(ctx context.Context, id int64) (wire.DeadLetter, *wire.Error) {
	dead, bad := r.DeadLetter(ctx, id)
	if bad != nil {
		return dead, bad
	}
	return dead, unread("dead letter", fmt.Sprint(id), r.store.DropDead(ctx, id))
}

// listOf names the command that lists a kind of record.
var listOf = map[string]string{
	"event": "`hookd log`", "the decision about event": "`hookd log`", "run": "`hookd log runs`",
	"dead letter": "`hookd dev dead list`",
}

// unread returns the error for a part of the history that cannot be read; nil for nil.
func unread(kind, id string, err error) *wire.Error {
	what := strings.TrimSpace(kind + " " + id)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		return &wire.Error{
			Code:    wire.CodeNotFound,
			Message: "no " + what + " in the history",
			Hint:    "see " + listOf[kind] + " for what there is",
		}
	case errors.Is(err, store.ErrAmbiguous):
		return &wire.Error{
			Code:    wire.CodeNotFound,
			Message: fmt.Sprintf("more than one %s begins or ends so: %s", kind, what),
			Hint:    "give more of the id, see `hookd log runs`",
		}
	}
	return &wire.Error{
		Code:    wire.CodeStorage,
		Message: what + " cannot be read: " + err.Error(),
		Hint:    "see `hookd status`",
	}
}

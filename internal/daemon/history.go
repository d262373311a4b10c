package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/api"
	"github.com/hookd/hookd/internal/builtin/secrets"
	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/match"
	"github.com/hookd/hookd/internal/server"
	"github.com/hookd/hookd/internal/store"
	"github.com/hookd/hookd/internal/trust"
)

// openStore opens the history of c. about is Options.About of the store.
func openStore(
	c config.Config, log *zap.Logger, about func(*events.Event) (tool, subject string),
) (*store.Store, error) {
	s, err := store.Open(store.Options{
		Path: c.StorePath, Durable: store.Durability(c.StoreDurable), Policy: storePolicy(c),
		Held:  dispatch.QueueShare(c.QueueMaxBytes),
		About: about,
		Incident: func(in store.Incident) {
			switch in.Kind {
			case store.IncidentHealed:
				log.Info("the store writes again", zap.String("path", in.Path))
			case store.IncidentDown:
				log.Error(
					"the store cannot be written; observers are refused, verdicts go on",
					zap.String("path", in.Path),
					zap.Error(in.Err),
				)
			default:
				log.Error(
					"the store's file was lost, a new one is begun",
					zap.String("what", string(in.Kind)),
					zap.String("path", in.Path),
					zap.String("moved_to", in.MovedTo),
					zap.Int(
						"pending_kept",
						in.Kept,
					),
					zap.Int("pending_lost", in.Lost),
					zap.Int64("dead_letters_lost", in.DeadLetters),
					zap.Error(in.Err),
				)
			}
		},
	})
	switch {
	case errors.Is(err, store.ErrNewer) || errors.Is(err, store.ErrForeign):
		aside := filepath.Join(filepath.Dir(c.StorePath), "aside")
		err = &unfitStore{
			err,
			"mkdir " + trust.Quote(aside) + " && mv " + trust.Quote(c.StorePath) + "* " + trust.Quote(aside),
		}
	case errors.Is(err, store.ErrLocked):
		err = &unfitStore{err, "HOOKD_STORE_PATH=" + trust.Quote(filepath.Join(c.Home, "hookd.db")) + " hookd serve"}
	}
	return s, err
}

// storePolicy returns the store's settings that a reload can change.
func storePolicy(c config.Config) store.Policy {
	p := store.Policy{
		Payload: store.Payload(
			c.HistoryPayload,
		), MaxAge: c.HistoryMaxAge, MaxBytes: c.HistoryMaxBytes, MaxRuns: int64(c.HistoryMaxRuns),
		QueueBytes: c.QueueMaxDisk,
	}
	if c.RedactHistory {
		p.Redact = redact
	}
	return p
}

// redact replaces secrets in text. It returns text itself when there are none.
func redact(text []byte) []byte {
	was := string(text)
	if now := secrets.Redact(was); now != was {
		return []byte(now)
	}
	return text
}

// about returns the tool and the subject of an event that was accepted.
func (d *Daemon) about(e *events.Event) (tool, subject string) { return d.dispatch.About(e) }

// redact is redact where the settings want it.
func (d *Daemon) redact(text []byte) []byte {
	if !d.config.Load().RedactHistory {
		return text
	}
	return redact(text)
}

// wholeSessions replaces each id of a list by comma by that of the only session which
// begins or ends so. Where it cannot be looked up the list stays as it is.
func (c *control) wholeSessions(ctx context.Context, sessions *string) *events.Error {
	if *sessions == "" {
		return nil
	}
	c.d.recorder.Flush(ctx)
	list := api.List(*sessions)
	for i, part := range list {
		id, err := c.d.store.SessionID(ctx, part)
		if errors.Is(err, store.ErrAmbiguous) {
			return &events.Error{
				Code:    events.CodeNotFound,
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

func (c *control) Runs(ctx context.Context, q api.RunQuery) (api.Runs, *events.Error) {
	if bad := c.wholeSessions(ctx, &q.Session); bad != nil {
		return api.Runs{}, bad
	}
	runs, err := c.d.recorder.Runs(ctx, q)
	return runs, unread("the history", "", err)
}

// Decisions answers what was decided.
func (c *control) Decisions(ctx context.Context, q api.DecisionQuery) (api.Decisions, *events.Error) {
	if bad := c.wholeSessions(ctx, &q.Session); bad != nil {
		return api.Decisions{}, bad
	}
	decisions, err := c.d.recorder.Decisions(ctx, q)
	return decisions, unread("the decisions", "", err)
}

// CountDecisions answers how many decisions fit.
func (c *control) CountDecisions(ctx context.Context, q api.CountQuery) (api.Counts, *events.Error) {
	if bad := c.wholeSessions(ctx, &q.Session); bad != nil {
		return api.Counts{}, bad
	}
	counts, err := c.d.recorder.CountDecisions(ctx, q)
	return counts, unread("the decisions", "", err)
}

// Accepted answers which events were accepted.
func (c *control) Accepted(ctx context.Context, q api.EventQuery) (api.Accepted, *events.Error) {
	if bad := c.wholeSessions(ctx, &q.Session); bad != nil {
		return api.Accepted{}, bad
	}
	c.d.recorder.Flush(ctx)
	page, err := c.d.store.Events(ctx, store.EventQuery{
		Session: q.Session, Event: q.Event, Tool: q.Tool, Agent: q.Agent, Cwds: api.List(q.Cwd), Text: q.Text,
		Since: q.Since, Until: q.Until, Before: q.Before, Limit: q.Limit,
	})
	accepted := api.Accepted{Events: make([]api.AcceptedEvent, len(page.Events)), Next: page.Next}
	for i, e := range page.Events {
		accepted.Events[i] = api.AcceptedEvent{
			EventID: e.EventID, Seq: e.Seq, Time: e.Time, Event: e.Envelope.Event, Kind: e.Contract.Kind,
			Dialect: e.Dialect, SessionID: e.SessionID, AgentID: e.AgentID, AgentName: e.AgentName, Cwd: e.Cwd,
			Sender: e.Sender, Tool: e.Tool, Subject: e.Subject, Parent: e.Parent, ReplayOf: e.ReplayOf, Wait: e.Wait,
			Bytes: e.Size, Whole: e.Whole,
		}
	}
	return accepted, unread("the events", "", err)
}

// Past answers which events could be decided, with their data and what was decided.
func (c *control) Past(ctx context.Context, q api.EventQuery) (api.Past, *events.Error) {
	c.d.recorder.Flush(ctx)
	if q.Limit <= 0 || q.Limit > api.MaxPast {
		q.Limit = api.MaxPast
	}
	page, err := c.d.store.Past(ctx, store.EventQuery{
		Session: q.Session, Event: q.Event, Tool: q.Tool, Agent: q.Agent, Cwds: api.List(q.Cwd), Text: q.Text,
		Since: q.Since, Until: q.Until, Before: q.Before, Limit: q.Limit,
	})
	past := api.Past{Events: make([]api.Event, len(page.Events)), Next: page.Next}
	for i, e := range page.Events {
		past.Events[i] = shown(e.Event)
		past.Events[i].Decision = e.Decision
	}
	return past, unread("the events", "", err)
}

// Sessions answers what is known of sessions.
func (c *control) Sessions(ctx context.Context, q api.SessionQuery) (api.Sessions, *events.Error) {
	if bad := c.wholeSessions(ctx, &q.Session); bad != nil {
		return api.Sessions{}, bad
	}
	c.d.recorder.Flush(ctx)
	list, err := c.d.store.Sessions(ctx, store.SessionQuery{
		Agent: q.Agent, Session: q.Session, Cwds: api.List(q.Cwd), State: q.State,
		Since: q.Since, Until: q.Until, Limit: q.Limit,
	})
	sessions := api.Sessions{Sessions: []api.Session{}}
	for _, s := range list {
		if s.State == store.StateWorking && c.d.asks.Waits(s.Dialect, s.SessionID) {
			s.State = store.StateWaiting
		}
		sessions.Sessions = append(sessions.Sessions, api.Session(s))
	}
	return sessions, unread("the sessions", "", err)
}

// Running answers which runs are under way.
func (c *control) Running(context.Context) api.Running {
	return api.Running{Runs: c.d.dispatch.Running()}
}

// Kill ends a run under way.
func (c *control) Kill(_ context.Context, id string) (events.UnderWay, *events.Error) {
	return c.d.dispatch.Kill(id)
}

func (c *control) Run(ctx context.Context, id string) (events.Run, *events.Error) {
	run, err := c.d.recorder.Run(ctx, id)
	return run, unread("run", id, err)
}

// Event returns an event as the history has it.
func (c *control) Event(ctx context.Context, id string) (api.Event, *events.Error) {
	c.d.recorder.Flush(ctx)
	e, err := c.d.store.Event(ctx, id)
	if err != nil {
		return api.Event{}, unread("event", id, err)
	}
	shown := shown(e)
	shown.Decision, err = c.d.store.Decision(ctx, e.Event)
	return shown, unread("the decision about event", id, err)
}

// Last returns the newest event that an agent has sent.
func (c *control) Last(ctx context.Context, agent events.Dialect, except string) (api.Event, *events.Error) {
	c.d.recorder.Flush(ctx)
	e, err := c.d.store.Last(ctx, agent, except)
	if err != nil {
		return api.Event{}, unread("event", "of "+string(agent), err)
	}
	return shown(e), nil
}

func shown(e store.Event) api.Event {
	return api.Event{
		Envelope: e.Envelope, EventID: e.EventID, Seq: e.Seq, Time: e.Time, ReplayOf: e.ReplayOf,
		Bytes: e.Size, Whole: e.Whole, Preview: e.Preview, Redacted: e.Redacted,
		Tool: e.Tool, Subject: e.Subject,
	}
}

// Replay accepts an event of the history again.
func (c *control) Replay(ctx context.Context, from server.Peer, id string, r api.Replay) (api.Replayed, *events.Error) {
	c.d.recorder.Flush(ctx)
	e, err := c.d.store.Event(ctx, id)
	if err != nil {
		return api.Replayed{}, unread("event", id, err)
	}
	if !e.Whole {
		return api.Replayed{}, &events.Error{Code: events.CodeNotFound,
			Message: fmt.Sprintf(
				"event %s cannot be replayed: of its %d bytes of data only the beginning was kept",
				e.EventID,
				e.Size,
			),
			Hint: "for events to come set history.payload to full in hookd.yaml and type `hookd reload`"}
	}
	answer := api.Replayed{ReplayOf: e.EventID, Warnings: []string{}, Matched: []string{}}
	if e.Redacted {
		answer.Warnings = append(
			answer.Warnings,
			"secrets were taken out of the data before it was kept: the hooks get it without them",
		)
	}
	if r.DryRun {
		root := c.d.projects.Root(e.Envelope.Cwd)
		for _, d := range match.Explain(c.d.discovery.Current(), e.Envelope, root, c.d.links) {
			if d.Runs && (r.Hook == "" || r.Hook == d.Hook.ID || r.Hook == d.Hook.Name) {
				answer.Matched = append(answer.Matched, d.Hook.Name)
			}
		}
		return answer, nil
	}
	rcpt, bad := c.d.dispatch.Replay(chainOf(from), *e.Event, r.Hook)
	if bad != nil {
		return answer, bad
	}
	answer.EventID, answer.Seq, answer.Matched = rcpt.EventID, rcpt.Seq, append(answer.Matched, rcpt.Matched...)
	answer.Warnings = append(answer.Warnings, rcpt.Warnings...)
	return answer, nil
}

// Stats counts runs by hook.
func (c *control) Stats(ctx context.Context, q api.StatsQuery) (api.Stats, *events.Error) {
	c.d.recorder.Flush(ctx)
	list, err := c.d.store.Stats(ctx, store.StatsQuery(q))
	stats := api.Stats{Hooks: []api.HookStats{}}
	for _, s := range list {
		if q.By != "" && q.By != "hook" {
			stats.Groups = append(stats.Groups, api.GroupStats{
				Name: s.Name, Runs: s.Runs, Failures: s.Failures, Blocked: s.Blocked, WaitedMS: milliseconds(s.Waited),
				P50MS: milliseconds(s.P50), P95MS: milliseconds(s.P95), P99MS: milliseconds(s.P99),
			})
			continue
		}
		stats.Hooks = append(stats.Hooks, api.HookStats{
			Hook: s.Name, Runs: s.Runs, Failures: s.Failures, Blocked: s.Blocked, WaitedMS: milliseconds(s.Waited),
			P50MS: milliseconds(s.P50), P95MS: milliseconds(s.P95), P99MS: milliseconds(s.P99),
		})
	}
	return stats, unread("the statistics", "", err)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (c *control) DeadLetters(
	ctx context.Context,
	hook string,
	before int64,
	limit int,
) (api.DeadLetters, *events.Error) {
	c.d.recorder.Flush(ctx)
	list, err := c.d.store.DeadLetters(ctx, hook, before, limit)
	dead := api.DeadLetters{Dead: []api.DeadLetter{}}
	for _, d := range list {
		dead.Dead = append(dead.Dead, letter(d))
	}
	return dead, unread("the dead letters", "", err)
}

func (c *control) DeadLetter(ctx context.Context, id int64) (api.DeadLetter, *events.Error) {
	c.d.recorder.Flush(ctx)
	d, p, err := c.d.store.DeadLetter(ctx, id)
	if err != nil {
		return api.DeadLetter{}, unread("dead letter", fmt.Sprint(id), err)
	}
	dead := letter(d)
	dead.Data = p.Event.Data
	return dead, nil
}

// RetryDead requeues a dead letter for now.
func (c *control) RetryDead(ctx context.Context, id int64) (api.DeadLetter, *events.Error) {
	dead, bad := c.DeadLetter(ctx, id)
	if bad != nil {
		return dead, bad
	}
	p, err := c.d.store.RetryDead(ctx, id)
	if err == nil {
		c.d.dispatch.Retry(p.Key())
	}
	return dead, unread("dead letter", fmt.Sprint(id), err)
}

func (c *control) DropDead(ctx context.Context, id int64) (api.DeadLetter, *events.Error) {
	dead, bad := c.DeadLetter(ctx, id)
	if bad != nil {
		return dead, bad
	}
	return dead, unread("dead letter", fmt.Sprint(id), c.d.store.DropDead(ctx, id))
}

func letter(d store.DeadLetter) api.DeadLetter {
	return api.DeadLetter{
		ID:       d.ID,
		EventID:  d.EventID,
		Event:    d.Event,
		Hook:     d.Hook,
		Attempts: d.Attempts,
		Reason:   d.Reason,
		RunID:    d.RunID,
		Time:     d.At,
	}
}

// unread returns the error for a part of the history that cannot be read; nil for nil.
func unread(kind, id string, err error) *events.Error {
	what := strings.TrimSpace(kind + " " + id)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		return &events.Error{
			Code:    events.CodeNotFound,
			Message: "no " + what + " in the history",
			Hint:    "see `hookd history` and `hookd dlq list` for what there is",
		}
	case errors.Is(err, store.ErrAmbiguous):
		return &events.Error{
			Code:    events.CodeNotFound,
			Message: fmt.Sprintf("more than one %s begins or ends so: %s", kind, what),
			Hint:    "give more of the id, see `hookd history`",
		}
	}
	return &events.Error{
		Code:    events.CodeStorage,
		Message: what + " cannot be read: " + err.Error(),
		Hint:    "see `hookd status`",
	}
}

// storage returns the state of the store for `hookd status`.
func (d *Daemon) storage() api.Storage {
	h := d.store.Health()
	s := api.Storage{
		Path: d.opts.Config.StorePath, OK: h.Err == nil, Since: h.Since, Bytes: h.Bytes, Events: h.Events, Runs: h.Runs,
		PendingEvents: h.PendingEvents, PendingRuns: h.PendingRuns, PendingBytes: h.PendingBytes,
		DeadLetters: h.DeadLetters, Lost: h.Dropped,
	}
	if h.Err != nil {
		s.Error = h.Err.Error()
	}
	return s
}

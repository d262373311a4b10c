package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/door/server"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts/secrets"
	"github.com/hookd/hookd/internal/hooks/match"
	"github.com/hookd/hookd/internal/record/recorder"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/wire"
)

// openStore opens the history of c. about is Options.About of the store. unkept is why a kill may take decisions.
func openStore(
	c config.Config, log *zap.Logger, about func(*events.Event),
) (s *store.Store, unkept string, err error) {
	memory, err := store.MemoryDir(c.StorePath)
	if err != nil {
		unkept = err.Error()
		log.Warn("a kill of hookd may take decisions that are not on disk yet", zap.Error(err))
	}
	s, err = store.Open(store.Options{
		Path: c.StorePath, Durable: store.Durability(c.StoreDurable), Limits: storeLimits(c),
		Held:   dispatch.QueueShare(c.QueueMaxBytes) / 2, // of others the journal or the database is enough
		Memory: memory, About: about,
		Waiting:  func(events int) { limitMemory(c.QueueMaxBytes, events) },
		Incident: func(in store.Incident) { logIncident(log, in) },
	})
	switch {
	case errors.Is(err, store.ErrNewer) || errors.Is(err, store.ErrForeign):
		aside := filepath.Join(filepath.Dir(c.StorePath), "aside")
		err = &unfitStore{
			err,
			"mkdir " + escape.Quote(aside) + " && mv " + escape.Quote(c.StorePath) + "* " + escape.Quote(aside),
		}
	case errors.Is(err, store.ErrLocked):
		err = &unfitStore{err, "HOOKD_STORE_PATH=" + escape.Quote(filepath.Join(c.State, "hookd.db")) + " hookd serve"}
	}
	return s, unkept, err
}

func logIncident(log *zap.Logger, in store.Incident) {
	log = log.With(zap.String("path", in.Path), zap.Error(in.Err))
	lost := []zap.Field{
		zap.Int("pending_kept", in.Kept), zap.Int("pending_lost", in.Lost), zap.Bool("perhaps_more", in.More),
	}
	if in.MovedTo != "" {
		lost = append(lost, zap.String("moved_to", in.MovedTo))
	}
	switch in.Kind {
	case store.IncidentHealed:
		log.Info("the store writes again")
	case store.IncidentDown:
		log.Error("the store cannot be written; observers are refused, verdicts go on")
	case store.IncidentMemory:
		log.Warn("a kill of hookd takes the decisions that are not written yet, of the last 25 to 250 ms")
	case store.IncidentJournal:
		if in.Lost == 0 && !in.More {
			log.Warn("the files of accepted events were damaged; no event is known to be lost", lost...)
			return
		}
		log.Error("accepted events were lost or set aside", lost...)
	default:
		log.Error("the store's file was lost, a new one is begun", append(lost, zap.String("what", string(in.Kind)),
			zap.Int64("dead_letters_lost", in.DeadLetters))...)
	}
}

// storeLimits returns the store's settings that a reload can change.
func storeLimits(c config.Config) store.Limits {
	p := store.Limits{
		Payload: store.Payload(c.HistoryPayload), MaxAge: c.HistoryMaxAge, MaxBytes: c.HistoryMaxBytes,
		MaxRuns: int64(c.HistoryMaxRuns), QueueBytes: c.QueueMaxDisk,
	}
	if c.RedactHistory {
		p.Redact = secrets.RedactBytes
	}
	return p
}

// about returns the tool and the subject of an event that was accepted.
func (d *Daemon) about(e *events.Event) { d.dispatch.About(e) }

// redact takes secrets out of text, where the settings want it. It returns text itself when
// there are none.
func (d *Daemon) redact(text []byte) []byte {
	if !d.config.Load().RedactHistory {
		return text
	}
	return secrets.RedactBytes(text)
}

// history answers recorded events and runs, and has them run again. The Recorder answers
// requests that only read.
type history struct {
	*recorder.Recorder
	d *Daemon
}

var (
	_ server.Runs    = history{}
	_ server.History = history{}
)

// Decisions is that of the recorder. It says which of the calls have nothing in the vault any more.
func (h history) Decisions(ctx context.Context, q wire.DecisionQuery) (wire.Decisions, *wire.Error) {
	page, bad := h.Recorder.Decisions(ctx, q)
	for i := range page.Decisions {
		h.d.vault.mark(&page.Decisions[i])
	}
	return page, bad
}

// Event is Decisions for the decision about one event.
func (h history) Event(ctx context.Context, id string) (wire.StoredEvent, *wire.Error) {
	e, bad := h.Recorder.Event(ctx, id)
	if e.Decision != nil {
		h.d.vault.mark(e.Decision)
	}
	return e, bad
}

// Sessions also knows which sessions wait for a person.
func (h history) Sessions(ctx context.Context, q wire.SessionQuery) (wire.Sessions, *wire.Error) {
	return h.Recorder.Sessions(ctx, q, h.d.asks.Sessions())
}

// Running answers which runs are under way.
func (h history) Running(context.Context) wire.Running {
	return wire.Running{Runs: h.d.dispatch.Running()}
}

// Kill ends a run under way.
func (h history) Kill(_ context.Context, id string) (wire.UnderWay, *wire.Error) {
	return h.d.dispatch.Kill(id)
}

// Replay accepts an event of the history again.
func (h history) Replay(ctx context.Context, from server.Peer, id string, r wire.Replay) (wire.Replayed, *wire.Error) {
	e, bad := h.Stored(ctx, id)
	if bad != nil {
		return wire.Replayed{}, bad
	}
	if !e.Whole {
		return wire.Replayed{}, &wire.Error{Code: wire.CodeNotFound,
			Message: fmt.Sprintf(
				"event %s cannot be replayed: of its %d bytes of data only the beginning was kept",
				e.EventID,
				e.Size,
			),
			Hint: "for events to come set history.payload to full in hookd.yaml and type `hookd reload`"}
	}
	answer := wire.Replayed{ReplayOf: e.EventID, Warnings: []string{}, Matched: []string{}}
	if e.Redacted {
		answer.Warnings = append(
			answer.Warnings,
			"secrets were taken out of the data before it was kept: the hooks get it without them",
		)
	}
	if r.DryRun {
		root := h.d.projects.Root(e.Envelope.Cwd)
		for _, d := range match.Explain(h.d.discovery.Current(), e.Envelope, root, h.d.links) {
			if d.Runs && (r.Hook == "" || r.Hook == d.Hook.ID || r.Hook == d.Hook.Name) {
				answer.Matched = append(answer.Matched, d.Hook.Name)
			}
		}
		return answer, nil
	}
	again := *e.Event
	again.Envelope.Sender = strings.TrimSpace(from.Sender + " " + from.Door) // it is sent by what asks for it
	rcpt, bad := h.d.dispatch.Replay(chainOf(from), again, r.Hook)
	if bad != nil {
		return answer, bad
	}
	h.d.logAct("an event was replayed", from, zap.String("event_id", rcpt.EventID), zap.String("replay_of", e.EventID))
	answer.EventID, answer.Seq, answer.Matched = rcpt.EventID, rcpt.Seq, append(answer.Matched, rcpt.Matched...)
	answer.Warnings = append(answer.Warnings, rcpt.Warnings...)
	return answer, nil
}

// RetryDead requeues a dead letter for now.
func (h history) RetryDead(ctx context.Context, id int64) (wire.DeadLetter, *wire.Error) {
	dead, p, bad := h.Recorder.RetryDead(ctx, id)
	if bad == nil {
		h.d.dispatch.Retry(p.Key())
	}
	return dead, bad
}

// Recover has events run that were set aside.
func (h history) Recover(ctx context.Context, from server.Peer) (wire.Recovered, *wire.Error) {
	h.d.recovering.Lock()
	defer h.d.recovering.Unlock()
	did := wire.Recovered{Losses: []wire.RecoveredLoss{}}
	if err := h.d.store.Health().Err; err != nil {
		return did, &wire.Error{
			Code: wire.CodeStorage, Message: "the store cannot be written: " + err.Error(),
			Hint: "mend the disk first; `hookd doctor` looks",
		}
	}
	for _, l := range h.d.store.Losses() {
		did.Losses = append(did.Losses, h.TakeBack(ctx, l, h.d.dispatch.Retry))
	}
	h.d.logAct("what was set aside was taken back", from, zap.Int("losses", len(did.Losses)))
	return did, nil
}

// storage returns the state of the store for `hookd status`.
func (d *Daemon) storage() wire.Storage {
	h := d.store.Health()
	s := wire.Storage{
		Path: d.opts.Config.StorePath, OK: h.Err == nil, Since: h.Since, Bytes: h.Bytes, Events: h.Events, Runs: h.Runs,
		PendingEvents: h.PendingEvents, PendingRuns: h.PendingRuns, PendingBytes: h.PendingBytes,
		DeadLetters: h.DeadLetters, Journaled: h.Journaled, JournalBytes: h.JournalBytes, Lost: h.Dropped,
		Losses: d.store.Losses(), Unkept: d.unkept,
	}
	if h.Err != nil {
		s.Error = h.Err.Error()
	}
	return s
}

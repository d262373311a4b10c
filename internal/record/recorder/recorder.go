// Package recorder connects dispatch with the stream and the store: it numbers each
// event, run and decision, publishes it to subscribers and gives it to the store, in one
// order. It answers queries from the store, and queries about recent runs and decisions from
// memory while the store cannot write.
//
// It promises: a record has its number before any subscriber sees it, and a reader of
// the history up to a number finds all records up to it. Accept returns an error if an
// event with observers cannot be stored; all other records are lost only if the store
// drops them. No call waits for the disk but Pending, NextPending and the
// queries, and those for at most flushTime.
package recorder

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/internal/record/stream"
	"github.com/hookd/hookd/wire"
)

// Recorder fits dispatch.Recorder. It is safe for concurrent use.
type Recorder struct {
	*history
	accepted   atomic.Uint64
	onDecision atomic.Pointer[func()] // see OnDecision; nil = none
}

var (
	_ dispatch.Recorder = (*Recorder)(nil)
	_ dispatch.IDs      = (*store.Store)(nil)
)

// New returns a Recorder that publishes on hub and stores in s.
func New(hub *stream.Hub, s *store.Store) *Recorder {
	w := &waits{hub: hub, store: s, soon: map[*wire.Decision]chan struct{}{}}
	return &Recorder{history: &history{w, newNewest()}}
}

// prepared has the values computed for an event before it gets its number.
type prepared struct {
	row  *store.Prepared // nil = the store makes it
	data []byte          // of a large event, for the stream; nil = it is small
}

// Prepare fits dispatch.Recorder.
func (r *Recorder) Prepare(e *events.Event, kept bool) dispatch.Prepared {
	p := &prepared{row: r.store.Prepare(e, kept)}
	if len(e.Data) > stream.LargeData {
		p.data = stream.EventData(e.Data)
	}
	return p
}

// Accept fits dispatch.Recorder. Subscribers may see an event a moment before it is on
// disk: they do not wait for the disk.
func (r *Recorder) Accept(
	e *events.Event,
	p dispatch.Prepared,
	hooks []string,
	stored func(bool, *wire.Error),
) *wire.Error {
	ready, _ := p.(*prepared)
	if ready == nil {
		ready = &prepared{}
	}
	decided := e.Wait && e.Contract.Decidable
	if len(hooks) > 0 && !decided {
		if err := r.store.Admits(len(e.Data), true); err != nil {
			return refusal(err)
		}
	}
	r.accepted.Add(1)
	err := r.hand(e, ready, hooks, stored)
	if err != nil && stored != nil && (decided || len(hooks) == 0) {
		stored(false, nil)
		return nil
	}
	return refusal(err)
}

// hand numbers e and gives it to the store; with stored the store must retain its runs,
// else it is only history.
func (r *Recorder) hand(e *events.Event, p *prepared, hooks []string, stored func(bool, *wire.Error)) (err error) {
	r.storing.RLock()
	defer r.storing.RUnlock()
	if p.data == nil && (len(hooks) > 0 || e.Judged) { // it stays as it is
		e.Seq = r.hub.PublishLate(e.Envelope.Event, stream.EventRecord(e), recordRoom+len(e.Data))
	} else {
		e.Seq = r.hub.PublishEvent(e, p.data)
	}
	if stored != nil {
		err = r.store.Accept(e, p.row, hooks, func(err error) { stored(err == nil, refusal(err)) })
	}
	switch {
	case stored == nil:
		r.store.Note(e, p.row)
	case err != nil:
		r.store.Note(e, r.store.Prepare(e, false))
	}
	return err
}

// Publish numbers and publishes an event that has no hooks.
func (r *Recorder) Publish(e *events.Event) {
	r.storing.RLock()
	defer r.storing.RUnlock()
	e.Seq = r.hub.PublishEvent(e, nil)
	r.store.Note(e, nil)
}

// refusal returns the error for a sender whose event was not stored; nil for nil.
func refusal(err error) *wire.Error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrQueueFull):
		return &wire.Error{
			Code:       wire.CodeDiskQueueFull,
			Message:    "the events that wait on disk for their hooks take all the room they may",
			Hint:       "send it again later; `hookd status` shows the queue, queue.max_disk_bytes is its size",
			RetryAfter: 5,
		}
	case errors.Is(err, store.ErrClosed):
		return &wire.Error{
			Code:       wire.CodeDraining,
			Message:    "hookd is shutting down",
			Hint:       "send it again when `hookd status` answers",
			RetryAfter: 1,
		}
	}
	return &wire.Error{
		Code:       wire.CodeStorage,
		Message:    "the event cannot be kept: " + err.Error(),
		Hint:       "make room or mend the disk, then send it again; `hookd doctor` looks",
		RetryAfter: 5,
	}
}

// Begun fits dispatch.Recorder.
func (r *Recorder) Begun(u func() wire.UnderWay) {
	if r.hub.WantsStarts() {
		started := u()
		r.hub.Start(started.Event, stream.StartRecord(&started))
	}
}

// Deciding fits dispatch.Recorder.
func (r *Recorder) Deciding(d *wire.Decision, soon, open bool) {
	if soon {
		r.mu.Lock()
		r.soon[d] = make(chan struct{})
		r.mu.Unlock()
	}
	r.storing.RLock()
	defer r.storing.RUnlock()
	if open {
		r.store.Undecided(d)
		return
	}
	r.store.Deciding(d)
}

// Decided fits dispatch.Recorder.
func (r *Recorder) Decided(d *wire.Decision) {
	r.storing.RLock()
	defer r.storing.RUnlock()
	d.Outcome = d.Word()
	d.Seq = r.hub.PublishLate(d.Event, stream.DecisionRecord(d), recordRoom)
	r.newest.addDecision(d)
	r.store.Decided(d)
	r.isRecorded(d)
	if f := r.onDecision.Load(); f != nil {
		(*f)()
	}
}

// Ended fits dispatch.Recorder.
func (r *Recorder) Ended(seq uint64, g wire.Guarded, ran wire.Ran) {
	r.storing.RLock()
	defer r.storing.RUnlock()
	r.store.Ended(seq, g, ran)
}

// Began fits dispatch.Recorder.
func (r *Recorder) Began(
	session string, d events.Dialect, id string, began time.Time, in time.Duration,
) (first time.Time, asked *wire.Decision, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	key := store.SessionKey{ID: session, Dialect: d}
	first, err := r.store.Began(ctx, key)
	if err == nil && first.IsZero() {
		return time.Now(), nil, true
	}
	if err == nil && id != "" && first.Before(began) {
		asked, err = r.store.Asked(ctx, key, id, began.Add(-in))
	}
	return first, asked, err == nil
}

// OnDecision calls f after each decision from now on. f must not block.
func (r *Recorder) OnDecision(f func()) { r.onDecision.Store(&f) }

// Ahead returns the first decisions that were not handed on to a target of `forward`, of
// all that have a number now.
func (r *Recorder) Ahead(ctx context.Context, target string, limit int) (store.Ahead, error) {
	last := r.WaitStored()
	if err := r.store.Flush(ctx); err != nil {
		return store.Ahead{}, err
	}
	return r.store.Ahead(ctx, target, last, limit)
}

// HasSubscribers fits dispatch.Recorder.
func (r *Recorder) HasSubscribers() bool { return r.hub.Watched() }

// Durable fits dispatch.Recorder.
func (r *Recorder) Durable() bool { return r.store.Health().Err == nil }

// Started fits dispatch.Recorder.
func (r *Recorder) Started(k events.PendingKey, runID string, at time.Time) {
	r.store.Started(k, runID, at)
}

// NextPending fits dispatch.Recorder.
func (r *Recorder) NextPending(after uint64) (int64, error) {
	return r.store.NextPending(context.Background(), after)
}

// Pending fits dispatch.Recorder.
func (r *Recorder) Pending(after uint64, limit int) ([]events.Pending, error) {
	return r.store.Pending(context.Background(), after, limit)
}

// Finished fits dispatch.Recorder.
func (r *Recorder) Finished(k events.PendingKey, run wire.Run, fate dispatch.Fate) {
	r.storing.RLock()
	defer r.storing.RUnlock()
	if run.ID != "" {
		run.Seq = r.publish(&run) // which its record does not read
		r.newest.addRun(&run)
	}
	switch {
	case fate.Dead != "":
		r.store.GiveUp(k, &run, fate.Dead)
	case !fate.Again.IsZero():
		r.store.Retry(k, &run, fate.Again)
	case fate.Ended && run.ID == "":
		r.store.Forget(k)
	case fate.Ended:
		r.store.Done(k, &run)
	default:
		r.store.Record(&run)
	}
}

// publish publishes a run, which is not changed any more, and returns its number.
func (r *Recorder) publish(run *wire.Run) (seq uint64) {
	if held := size(run); held <= maxHeld {
		return r.hub.PublishLate(run.Event, stream.RunRecord(run), recordRoom+held)
	}
	return r.hub.Publish(run.Event, stream.RunRecord(run))
}

const (
	recordRoom = 1 << 10 // about what the stream holds of an event without its data, a run or a decision
	maxHeld    = 4 << 10 // bytes of a run's output: one with more is encoded at once
)

// Counts returns the runs of a hook by result, and its last run.
func (r *Recorder) Counts(hook string) (map[string]int, *wire.Run) { return r.newest.ofHook(hook) }

// Totals returns how many events were accepted, and the runs by result, since the start.
func (r *Recorder) Totals() (accepted uint64, results map[string]int) {
	return r.accepted.Load(), r.newest.byResult()
}

package dispatch

import (
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// resumer makes runs again that were accepted before: read from the disk, or due for another attempt.
type resumer struct {
	*lifetime
	observers *observers
	records   *runRecords
	retries   *retries
	snapshots *snapshots

	earlier earlier // set before the first event
}

// again queues a run whose time has come, with today's hook.
func (re *resumer) again(r retry) {
	w := events.Pending{Event: r.event, Hook: r.key.Hook, Attempt: r.attempt}
	if r.event == nil {
		size, err := re.recorder.NextPending(r.key.Seq - 1)
		if err == nil && !re.observers.queue.fits(size) {
			re.waitForRoom(r)
			return
		}
		if w, err = re.reread(r); err != nil {
			re.log.Warn(
				"retry postponed: the event cannot be read",
				zap.String("hook", r.key.Hook),
				zap.Uint64("seq", r.key.Seq),
				zap.Error(err),
			)
			r.due = time.Now().Add(rereadAfter)
			re.retries.push(r)
			return
		}
		if w.Event == nil {
			return // dropped meanwhile
		}
	}
	w.Attempt = max(w.Attempt, r.attempt, 1) // it overtakes no other run and holds none back
	re.accepting.RLock()
	defer re.accepting.RUnlock()
	if re.draining {
		return
	}
	t := re.resumed(w, nil)
	switch {
	case t != nil && !re.observers.queue.reserve(t.event, 1):
		re.waitForRoom(r)
	case t != nil:
		t.durable = r.event == nil
		re.pending.Add(1)
		re.observers.enqueue([]*task{t})
	case r.event != nil:
		re.dropped(w, nil, events.PendingKey{}, Fate{})
	case r.byPerson:
		re.dropped(w, nil, r.key, Fate{Dead: noHook})
	default:
		re.dropped(w, nil, r.key, Fate{Ended: true})
	}
}

// waitForRoom puts off a retry for which the queue has no room.
func (re *resumer) waitForRoom(r retry) {
	r.due = time.Now().Add(pause.About(roomAfter))
	re.retries.push(r)
}

// roomAfter is about when a retry looks for room in the queue again.
const roomAfter = 250 * time.Millisecond

// rereadAfter is when an event that could not be read is tried again.
const rereadAfter = 5 * time.Second

func (re *resumer) reread(r retry) (events.Pending, error) {
	list, err := re.recorder.Pending(r.key.Seq-1, 1)
	for _, w := range list {
		if w.Key() == r.key {
			return w, nil
		}
	}
	return events.Pending{}, err
}

// earlier says which events an earlier process accepted, those with numbers below first, and
// how old they may be to run. The zero value is that there are none.
type earlier struct {
	first  uint64
	maxAge time.Duration
}

// resumed makes the task of a run that was accepted earlier, with today's hook
// of that id; nil when there is none that runs for its event.
func (re *resumer) resumed(w events.Pending, result chan<- wire.Run) *task {
	index := re.snapshots.index.Load()
	e := *w.Event // which may be read from the disk, where its project is not kept
	e.Project = re.snapshots.projectOf(index, e.Cwd, time.Now())
	for _, m := range index.Match(&e) {
		if m.Hook.ID == w.Hook {
			return &task{event: w.Event, match: m, attempt: w.Attempt, result: result}
		}
	}
	return nil
}

// outdated reports whether a run that an earlier daemon left is too old for this.
func (re *resumer) outdated(w events.Pending) bool {
	return w.Event.Seq < re.earlier.first && time.Since(w.Event.Time) > re.earlier.maxAge
}

func (re *resumer) expire(w events.Pending) {
	re.log.Warn(
		"event too old to be run after the restart",
		zap.String("hook", w.Hook),
		zap.String("event", w.Event.Envelope.Event),
		zap.String("event_id", w.Event.EventID),
		zap.Duration("limit", re.earlier.maxAge),
	)
	re.recorder.Finished(
		w.Key(),
		wire.Run{},
		Fate{Dead: "older than replay_max_age (" + re.earlier.maxAge.String() + ") when hookd came back"},
	)
}

// dropped records that a run has no hook any more, and reports that to the sender that waits for it.
func (re *resumer) dropped(w events.Pending, result chan<- wire.Run, k events.PendingKey, fate Fate) {
	r := re.unfinished(w, wire.ResultDropped)
	r.ID, r.Error = events.NewRunID(time.Now()), noHook
	re.log.Warn(
		"accepted run dropped",
		zap.String("hook", w.Hook),
		zap.String("event", r.Event),
		zap.String("event_id", r.EventID),
		zap.String("error", r.Error),
	)
	re.opts.Tap.Ran(w.Event, r, nil)
	re.recorder.Finished(k, r, fate)
	if result != nil {
		result <- r
	}
}

const noHook = "the hook is gone, disabled, or asks for other events now"

// interrupted records an attempt that hookd did not survive.
func (re *resumer) interrupted(w events.Pending) {
	r := re.unfinished(w, wire.ResultInterrupted)
	r.ID, r.Started, r.Error = w.RunID, w.Started, "hookd ended while it ran; it runs again"
	re.opts.Tap.Ran(w.Event, r, nil)
	re.recorder.Finished(events.PendingKey{}, r, Fate{})
}

// unfinished is the record of a run that did not come to its end.
func (re *resumer) unfinished(w events.Pending, result wire.Result) wire.Run {
	e := w.Event
	return wire.Run{
		EventID: e.EventID, Event: e.Envelope.Event, Hook: w.Hook, Result: result, ExitCode: -1,
		SessionID: e.SessionID, AgentID: e.AgentID, AgentName: e.AgentName, Sender: e.Sender,
		Dialect: e.Dialect, Tool: e.Tool, Subject: e.Subject, Tried: e.Tried,
		Started: time.Now().UTC(), Input: re.records.preview(e),
	}
}

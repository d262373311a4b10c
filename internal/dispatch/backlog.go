package dispatch

import (
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/events"
)

// page is how many events are read from disk at once.
const page = 256

// backlog is what waits on disk for room in the queue: what an earlier life
// left, and what came when the queue was full. While there is any, events that
// are kept go behind it, so that the order holds.
type backlog struct {
	mu      sync.Mutex // guards all below
	on      bool
	after   uint64                       // everything up to this number was read, or never waited here
	arrived uint64                       // events that were left here, counted
	own     map[Key]bool                 // runs that have a place in memory although their event is here
	results map[uint64]chan<- events.Run // of senders that wait for observers
}

func newBacklog() backlog {
	return backlog{own: map[Key]bool{}, results: map[uint64]chan<- events.Run{}}
}

func (b *backlog) active() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.on
}

// takes reports whether the queued runs of an event that was just kept have
// their turn from here.
func (b *backlog) takes(a *admission) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.on && a.room {
		return false
	}
	if !b.on {
		b.on, b.after = true, a.event.Seq-1
		go a.d.refill()
	}
	b.arrived++
	for _, ms := range [][]match{a.plan.nested, a.plan.later} {
		for _, m := range ms {
			b.own[Key{a.event.Seq, m.hook.ID}] = true
		}
	}
	if a.results != nil {
		b.results[a.event.Seq] = a.results
	}
	return true
}

// Resume takes up what earlier lives of hookd accepted: events with numbers
// below first. Runs that are older than maxAge become dead letters; a hook that
// is gone is recorded as dropped. Call it once, before the first event.
func (d *Dispatcher) Resume(first uint64, maxAge time.Duration) {
	d.life = life{first: first, maxAge: maxAge}
	d.backlog.mu.Lock()
	defer d.backlog.mu.Unlock()
	if d.recorder.Keeps() && !d.backlog.on {
		d.backlog.on = true
		go d.refill()
	}
}

// life tells what this process accepted from what earlier ones did.
type life struct {
	first  uint64
	maxAge time.Duration
}

// refill moves what waits on disk into the queue, as there is room, until
// nothing does.
func (d *Dispatcher) refill() {
	b := &d.backlog
	for {
		b.mu.Lock()
		after, arrived := b.after, b.arrived
		b.mu.Unlock()
		list, err := d.recorder.Pending(after, page)
		if err != nil {
			d.log.Warn("what waits on disk cannot be read, it is tried again", zap.Error(err))
			if !d.pause(rereadAfter) {
				return
			}
			continue
		}
		if len(list) == 0 && b.end(arrived) {
			return
		}
		for len(list) > 0 {
			n := 1
			for n < len(list) && list[n].Event.Seq == list[0].Event.Seq {
				n++
			}
			if !d.take(list[:n]) {
				return
			}
			b.mu.Lock()
			b.after = list[0].Event.Seq
			b.mu.Unlock()
			list = list[n:]
		}
	}
}

// end reports whether nothing is left: nothing was read, and nothing has come
// since there were only arrived events. Then events go to the queue again.
func (b *backlog) end(arrived uint64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.arrived != arrived {
		return false
	}
	b.on = false
	clear(b.own)
	clear(b.results)
	return true
}

// pause waits; false when hookd stops.
func (d *Dispatcher) pause(t time.Duration) bool {
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-d.stopping:
		return false
	}
}

// take queues the runs of one event, when there is room; false when hookd
// stops before that.
func (d *Dispatcher) take(list []Waiting) bool {
	e := list[0].Event
	tasks := d.resumeAll(list)
	if len(tasks) == 0 {
		return true
	}
	for !d.queue.reserve(e, len(tasks)) {
		select {
		case <-d.queue.room:
		case <-d.stopping:
			return false
		}
	}
	d.accept.RLock()
	defer d.accept.RUnlock()
	if d.draining {
		return false
	}
	d.pending.Add(len(tasks))
	d.enqueue(tasks)
	return true
}

func (d *Dispatcher) resumeAll(list []Waiting) (tasks []*task) {
	b := &d.backlog
	for _, w := range list {
		b.mu.Lock()
		own, results := b.own[w.key()], b.results[w.Event.Seq]
		delete(b.own, w.key())
		b.mu.Unlock()
		switch {
		case own:
		case w.Due.After(time.Now()):
			d.retries.push(retry{due: w.Due, key: w.key(), attempt: w.Attempt})
		default:
			if t := d.resumed(w, true); t != nil {
				t.result = results
				tasks = append(tasks, t)
			}
		}
	}
	b.mu.Lock()
	delete(b.results, list[0].Event.Seq)
	b.mu.Unlock()
	return tasks
}

// resumed makes the task of a run that was accepted earlier, with today's hook
// of that id; nil when it is not to run any more, which is recorded.
func (d *Dispatcher) resumed(w Waiting, kept bool) *task {
	e := w.Event
	if w.RunID != "" {
		r := d.interrupted(w)
		d.opts.Tap.Ran(e, r, nil)
		d.recorder.Finished(Key{}, r, Fate{})
	}
	if e.Seq < d.life.first && time.Since(e.Time) > d.life.maxAge {
		d.log.Warn("event too old to be run after the restart", zap.String("hook", w.Hook), zap.String("event", e.Envelope.Event), zap.String("event_id", e.EventID), zap.Duration("limit", d.life.maxAge))
		d.recorder.Finished(w.key(), events.Run{}, Fate{Dead: "older than replay_max_age (" + d.life.maxAge.String() + ") when hookd came back"})
		return nil
	}
	for _, m := range d.index.Load().match(e) {
		if m.hook.ID == w.Hook {
			return &task{event: e, match: m, kept: kept, attempt: w.Attempt}
		}
	}
	r := w.run(events.ResultDropped)
	r.ID, r.Error = events.NewRunID(time.Now()), "the hook is gone, disabled, or asks for other events now"
	d.log.Warn("accepted run dropped", zap.String("hook", w.Hook), zap.String("event", e.Envelope.Event), zap.String("event_id", e.EventID), zap.String("error", r.Error))
	d.opts.Tap.Ran(e, r, nil)
	if kept {
		d.recorder.Finished(w.key(), r, Fate{Ended: true})
	} else {
		d.recorder.Finished(Key{}, r, Fate{})
	}
	return nil
}

// interrupted is the record of an attempt that hookd did not survive.
func (d *Dispatcher) interrupted(w Waiting) events.Run {
	r := w.run(events.ResultInterrupted)
	r.ID, r.Started, r.Error = w.RunID, w.Started, "hookd ended while it ran; it runs again"
	return r
}

// run is the record of a run that did not come to its end.
func (w Waiting) run(result events.Result) events.Run {
	e := w.Event
	return events.Run{
		EventID: e.EventID, Event: e.Envelope.Event, Hook: w.Hook, Result: result, ExitCode: -1,
		SessionID: e.SessionID, AgentID: e.AgentID, AgentName: e.AgentName, Sender: e.Sender, Dialect: e.Dialect,
		Started: time.Now().UTC(), Input: preview(e.Data),
	}
}

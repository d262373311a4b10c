package dispatch

import (
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/match"
	"github.com/hookd/hookd/wire"
)

// readAtOnce is how many events are read from disk at once.
const readAtOnce = 256

// backlog is the runs that wait on disk for room in the queue: those left by an earlier
// daemon, and the runs that came when the queue was full. While there is any, events that
// are stored go behind it, so that the order holds.
//
// An event can be read from disk a moment before whenStored learns that it is there.
// Until then nothing else may touch it: only whenStored knows which of its runs have a place in
// memory, and which senders wait for them.
type backlog struct {
	*lifetime
	*resumer

	mu      sync.Mutex // guards all below
	on      bool
	stopped bool                       // nothing is moved into the queue any more
	after   uint64                     // everything up to this number was read, or never waited here
	kept    uint64                     // all events up to this number have passed whenStored
	arrived uint64                     // events that were left here, counted
	own     map[events.PendingKey]bool // runs that have a place in memory although their event is here
	waited  map[uint64][]*task         // queued runs that a sender waits for, by event
}

func newBacklog(l *lifetime, r *resumer) *backlog {
	return &backlog{lifetime: l, resumer: r, own: map[events.PendingKey]bool{}, waited: map[uint64][]*task{}}
}

func (b *backlog) active() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.on
}

// takes reports whether the queued runs of an event that was just stored have
// their turn from here.
func (b *backlog) takes(a *acceptance) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept = a.event.Seq
	if !b.on && a.room {
		return false
	}
	if !b.on {
		b.on, b.after = true, a.event.Seq-1
		go b.refill()
	}
	b.arrived++
	for _, ms := range [][]match.Match{a.plan.nested, a.plan.later} {
		for _, m := range ms {
			b.own[events.PendingKey{Seq: a.event.Seq, Hook: m.Hook.ID}] = true
		}
	}
	switch {
	case a.results == nil:
	case b.stopped:
		reportPostponed(a.tasks)
	default:
		for _, t := range a.tasks {
			t.event = nil // the disk has it: a sender that waits must not hold it in memory
		}
		b.waited[a.event.Seq] = a.tasks
	}
	return true
}

// claim keeps a run that has a turn of its own from having another from here.
func (b *backlog) claim(k events.PendingKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.on && k.Seq > b.after {
		b.own[k] = true
	}
}

// refill moves the runs that wait on disk into the queue, as there is room. It ends
// when none waits or hookd stops.
func (b *backlog) refill() {
	for warned := false; ; {
		b.mu.Lock()
		after, kept, arrived := b.after, b.kept, b.arrived
		b.mu.Unlock()
		size, err := b.recorder.NextPending(after)
		if err == nil && !b.awaitRoom(size) {
			b.stop()
			return
		}
		var list []events.Pending
		if err == nil {
			list, err = b.recorder.Pending(after, readAtOnce)
		}
		if err != nil {
			if !warned {
				b.log.Warn(
					"what waits on disk cannot be read, it is tried again",
					zap.Duration("every", rereadAfter),
					zap.Error(err),
				)
			}
			warned = true
			if !b.pause(rereadAfter) {
				b.stop()
				return
			}
			continue
		}
		warned = false
		list = upto(kept, list)
		if len(list) == 0 && b.end(arrived) {
			return
		}
		if !b.takeAll(list) {
			b.stop()
			return
		}
	}
}

// awaitRoom waits until the queue has room for an event of size bytes; false
// when hookd stops before that.
func (b *backlog) awaitRoom(size int64) bool {
	for !b.observers.queue.fits(size) {
		select {
		case <-b.observers.queue.room:
		case <-b.stopping.Done():
			return false
		}
	}
	return true
}

// upto returns the runs of events whose number is at most seq.
func upto(seq uint64, list []events.Pending) []events.Pending {
	for i, w := range list {
		if w.Event.Seq > seq {
			return list[:i]
		}
	}
	return list
}

// takeAll takes event by event; false when hookd stops.
func (b *backlog) takeAll(list []events.Pending) bool {
	for len(list) > 0 {
		n := len(upto(list[0].Event.Seq, list))
		if !b.take(list[:n]) {
			return false
		}
		b.mu.Lock()
		b.after = list[0].Event.Seq
		b.mu.Unlock()
		list = list[n:]
	}
	return true
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
	for seq, tasks := range b.waited { // the disk has lost them
		for _, t := range tasks {
			t.report(t.unran(wire.ResultDropped, "the disk has lost it"))
		}
		delete(b.waited, seq)
	}
	return true
}

// stop answers senders that wait for runs on disk: these have their turn when
// hookd is back.
func (b *backlog) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	for _, tasks := range b.waited {
		reportPostponed(tasks)
	}
	clear(b.waited)
}

// pause waits; false when hookd stops.
func (l *lifetime) pause(t time.Duration) bool { return pause.For(t, l.stopping.Done()) }

// take queues the runs of one event, when there is room; false when hookd
// stops before that.
func (b *backlog) take(list []events.Pending) bool {
	e := list[0].Event
	tasks := b.resumeAll(list)
	if len(tasks) == 0 {
		return true
	}
	for !b.observers.queue.reserve(e, len(tasks)) {
		select {
		case <-b.observers.queue.room:
		case <-b.stopping.Done():
			reportPostponed(tasks)
			return false
		}
	}
	b.accepting.RLock()
	defer b.accepting.RUnlock()
	if b.draining {
		for range tasks {
			b.observers.queue.abandon(e)
		}
		reportPostponed(tasks)
		return false
	}
	b.pending.Add(len(tasks))
	b.observers.enqueue(tasks)
	return true
}

// resumeAll returns the runs of one event that are to be queued, and ends
// the others.
func (b *backlog) resumeAll(list []events.Pending) (tasks []*task) {
	own, result := b.leave(list)
	for i, w := range list {
		if own[i] {
			continue
		}
		if w.RunID != "" {
			b.resumer.interrupted(w)
		}
		switch {
		case b.resumer.outdated(w):
			b.resumer.expire(w)
		case w.Due.After(time.Now()):
			latest := time.Now().Add(maxBackoff) // the clock may have been set back since
			due := slices.MinFunc([]time.Time{w.Due, latest}, time.Time.Compare)
			b.retries.push(retry{due: due, key: w.Key(), attempt: w.Attempt})
		default:
			if t := b.resumer.resumed(w, result); t != nil {
				t.durable = true
				tasks = append(tasks, t)
				continue
			}
			b.resumer.dropped(w, result, w.Key(), Fate{Ended: true})
		}
	}
	return tasks
}

// leave takes the runs of one event out: which of them have a place in memory,
// and where the sender waits for the others; nil = it does not.
func (b *backlog) leave(list []events.Pending) (own []bool, result chan<- wire.Run) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range list {
		own = append(own, b.own[w.Key()])
		delete(b.own, w.Key())
	}
	seq := list[0].Event.Seq
	if tasks := b.waited[seq]; len(tasks) > 0 {
		result = tasks[0].result
	}
	delete(b.waited, seq)
	return own, result
}

// Retry queues a pending run that was made pending again from outside: a dead
// letter that a person wants to try again.
func (d *Dispatcher) Retry(k events.PendingKey) {
	d.backlog.claim(k)
	d.retries.push(retry{due: time.Now(), key: k, byPerson: true})
}

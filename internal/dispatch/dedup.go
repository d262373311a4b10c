package dispatch

import (
	"sync"
	"time"
)

// An id counts as seen for this long, and at most this many are kept.
const (
	dedupWindow = 10 * time.Minute
	dedupMax    = 100_000
)

// dedup remembers the ids that senders gave their events, so that one that is
// sent again is accepted once.
type dedup struct {
	mu      sync.Mutex
	entries map[dedupKey]*entry
	oldest  []*entry // in the order entered
}

type dedupKey struct{ sender, id string }

// entry is one event with an id of its own.
type entry struct {
	key     dedupKey
	at      time.Time
	settled chan struct{} // closed once it was accepted or refused
	ended   chan struct{} // closed once its receipt is complete
	ok      bool          // it was accepted; valid after settled
	first   Receipt       // as accepted; valid after settled
	full    Receipt       // with verdict and runs; valid after ended
}

func newDedup() *dedup { return &dedup{entries: map[dedupKey]*entry{}} }

// enter returns the entry of an id; first tells whether this call made it.
func (d *dedup) enter(sender, id string, now time.Time) (e *entry, first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.expire(now)
	key := dedupKey{sender, id}
	if e, ok := d.entries[key]; ok {
		return e, false
	}
	e = &entry{key: key, at: now, settled: make(chan struct{}), ended: make(chan struct{})}
	d.entries[key] = e
	d.oldest = append(d.oldest, e)
	return e, true
}

func (d *dedup) expire(now time.Time) {
	for len(d.oldest) > 0 && (len(d.oldest) >= dedupMax || now.Sub(d.oldest[0].at) > dedupWindow) {
		if e := d.oldest[0]; d.entries[e.key] == e {
			delete(d.entries, e.key)
		}
		d.oldest = d.oldest[1:]
	}
}

// settle tells the duplicates what became of the first; a refused event is
// forgotten, so that it can be sent again.
func (d *dedup) settle(e *entry, r Receipt, accepted bool) {
	if !accepted {
		d.mu.Lock()
		if d.entries[e.key] == e { // else it has expired, and the id is another event's
			delete(d.entries, e.key)
		}
		d.mu.Unlock()
	}
	e.ok, e.first = accepted, r
	close(e.settled)
}

// finish completes the receipt that waiting duplicates get.
func (e *entry) finish(r Receipt) {
	e.full = r
	close(e.ended)
}

// join returns the receipt of the first event with this id, waiting for its
// runs if asked to; ok is false when that event was refused.
func (e *entry) join(wait bool) (r Receipt, ok bool) {
	<-e.settled
	if !e.ok {
		return Receipt{}, false
	}
	r = e.first
	if wait {
		<-e.ended
		r = e.full
	}
	r.Duplicate = true
	return r, true
}

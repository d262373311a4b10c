package store

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/journal"
)

// accepting is an event on its way into the journal.
type accepting struct {
	record journal.Item
	event  *events.Event
	hooks  []string
	fate   fate
	sent   bool
	done   func(error)
}

func (a *accepting) size() int { return len(a.record.Head) + len(a.record.Body) }

// arrivals are events that wait to be appended.
type arrivals struct {
	some  chan struct{} // there are
	bytes atomic.Int64  // of all that were added and not taken in yet

	mu      sync.Mutex // guards all below
	waiting []*accepting
	closed  bool
}

func newArrivals() *arrivals { return &arrivals{some: make(chan struct{}, 1)} }

// add hands an event over; false when the store is closed.
func (q *arrivals) add(a *accepting) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.waiting = append(q.waiting, a)
	q.bytes.Add(int64(a.size()))
	nudge(q.some)
	return true
}

// tookIn notes that the events of a batch do not wait any more.
func (q *arrivals) tookIn(batch []*accepting) {
	for _, a := range batch {
		q.bytes.Add(-int64(a.size()))
	}
}

// take returns the events to append next. closed tells that nothing more will come.
func (q *arrivals) take() (batch []*accepting, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for bytes := 0; n < min(len(q.waiting), batchOps) && bytes < batchBytes; n++ {
		bytes += q.waiting[n].size()
	}
	batch = append(batch, q.waiting[:n]...)
	clear(q.waiting[:n])
	if q.waiting = q.waiting[n:]; len(q.waiting) == 0 {
		q.waiting = nil
	}
	return batch, q.closed
}

func (q *arrivals) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	nudge(q.some)
}

// appender is the goroutine that appends accepted events to the journal.
type appender struct {
	*core
	arrivals   *arrivals
	distrusted chan error    // the journal has failed
	relief     chan struct{} // the writer is not as far behind as it was
}

// journalAccepts is the goroutine that appends events to the journal: all that have come
// while the disk took those before them.
func (s *appender) journalAccepts() {
	defer s.accepts.Done()
	for {
		batch, closed := s.arrivals.take()
		if len(batch) == 0 {
			if closed {
				return
			}
			<-s.arrivals.some
			continue
		}
		s.awaitWriter()
		entries, err := s.appendAll(batch)
		if err == nil {
			s.arrived(batch, entries)
		}
		s.arrivals.tookIn(batch)
		for i, a := range batch {
			batch[i] = nil // a sender that is told may send another event, as large as this one
			a.done(err)
		}
	}
}

// How far the database may be behind: bytes of records that wait in memory, and of the journal.
const (
	lateRecords = maxBacklog / 2
	lateJournal = 512 << 20
	lateEvents  = 64 << 10        // of the journal, from the first on that only the journal has: each takes memory
	longJournal = lateJournal / 2 // from which on the writer shortens it, whatever else there is to do
	longEvents  = lateEvents / 2  // the same: the next start reads them before it answers
)

// late reports whether the writer is too far behind for more events.
func (s *appender) late() bool {
	_, bytes, _ := s.journaled.load()
	return bytes > lateJournal || s.journaled.span() > lateEvents || s.queue.weight() > lateRecords
}

// awaitWriter waits until the writer has caught up, or cannot.
func (s *appender) awaitWriter() {
	for s.down.Load() == nil && s.late() {
		nudge(s.queue.urgent)
		<-s.relief
	}
}

// appendAll appends events, to another segment if the one in use was deleted.
func (s *appender) appendAll(batch []*accepting) ([]journal.Entry, error) {
	if down := s.down.Load(); down != nil {
		return nil, down.err
	}
	records := make([]journal.Item, len(batch))
	for i, a := range batch {
		records[i] = a.record
	}
	log := s.journaled.journal()
	entries, err := log.Append(records)
	if errors.Is(err, journal.ErrGone) {
		s.distrust(err)
		if err = log.Renew(); err == nil {
			entries, err = log.Append(records)
		}
	}
	if err != nil {
		if err = classify(err); kind(err) == nil {
			err = fmt.Errorf("%w: %w", ErrIO, err)
		}
		s.distrust(err)
	}
	return entries, err
}

// distrust tells the writer that the journal has failed.
func (s *appender) distrust(err error) {
	select {
	case s.distrusted <- err:
	default:
	}
}

// arrived takes in the entries that the journal has now.
func (s *appender) arrived(batch []*accepting, entries []journal.Entry) {
	list := make([]entry, len(batch))
	for i, a := range batch {
		list[i] = entry{Entry: entries[i], sent: a.sent}
		s.pending.accept(a.event.Seq, a.event, len(a.event.Data), a.hooks, a.fate)
	}
	s.journaled.add(list, time.Now())
	if n := len(entries); n > 0 {
		last := entries[n-1]
		s.crashPage.Load().confirm(journal.Pos{Segment: last.Segment, Offset: last.Offset + last.Bytes()})
	}
	_, runs, _ := s.pending.load()
	s.crashPage.Load().mark(markPending, uint64(runs))
	s.tellWaiting()
	if s.journaled.long() {
		nudge(s.queue.urgent)
	}
	for _, a := range batch {
		if len(a.hooks) == 0 { // nothing else would move it
			s.queue.add(&op{event: a.event.Seq, exec: nothing, lean: nothing})
		}
	}
}

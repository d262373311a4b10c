package store

import (
	"sync"
	"time"
)

// One commit takes at most this, so that no caller waits long for others: of the ops that
// callers wait for and of records each so many bytes. As many records, or a quarter of
// the bytes, are enough for a commit. Where more wait, half of them are taken, so that
// records keep up with any number of events.
const (
	batchOps     = 1024 // that callers wait for
	batchRecords = 4096
	batchBytes   = 4 << 20
)

// A record waits for Options.delay, and for as many times that as the commit before had
// busyRecords, lateDelay times at most: each commit writes the same pages of the indexes
// once more, so a busy daemon that commits ten times less often does a sixth more for the
// same processor time.
const (
	busyRecords = 32
	lateDelay   = 10
)

// maxBacklog is how many bytes of records wait while nothing can be written.
// Beyond it the oldest lose everything but the end of their pending run.
const maxBacklog = 32 << 20

// Events that no hook waits for are written as late as records can be. So many
// are kept whenever they come, and one for each noteCost: writing one takes some
// 40 µs, which must not be the work of a busy daemon. Looking for secrets in noteBytes
// takes about as long again.
const (
	noteBurst = 4096
	noteCost  = time.Millisecond
	noteBytes = 4 << 10
)

// opCost is the size of a row beyond its text.
const opCost = 512

// op is one thing to be written.
type op struct {
	exec  func(db *database) error // within the transaction
	after func()                   // once it is on disk; nil = nothing
	done  func(error)              // nil = no caller waits; must not block
	lean  func(db *database) error // exec without what may be dropped; nil = all may be
	event uint64                   // number of one that the database must have before; 0 = none
	ends  string                   // a hook that ends for it: nothing waits for that run any more; "" = none

	brings int    // bytes of data of event
	note   bool   // of an event that no hook waits for
	all    bool   // records that came before are written with it
	number uint64 // of the event or run that would be missed; 0 = none
	size   int    // in bytes, of what may be dropped; 0 = nothing
	err    error  // exec was refused
}

func (o *op) answer(err error) {
	if o.done != nil {
		o.done(err)
	}
}

// queue holds the ops that the writer has yet to write. Ops that callers wait for go
// first, without the others. The others are written in the order added, when there are enough of
// them or they have waited long enough. So a commit that is waited for has few pages to write.
type queue struct {
	urgent chan struct{} // there is something for a commit
	delay  time.Duration // that a record waits at least
	timer  *time.Timer   // calls mature

	mu      sync.Mutex // guards all below
	waiting []*op
	records []*op
	wait    time.Duration // that a record waits now
	due     time.Time     // when timer goes off; zero = it is not set
	matured uint64        // added, when it last went off
	ripe    bool          // the next commits take records, until those up to ripened are gone
	ripened uint64        // added, when ripe was last set
	added   uint64        // records ever
	bytes   int           // of records
	notes   int           // of records, with room
	paid    time.Time     // up to when notes have used their time up
	asked   time.Time     // when there was the last
	dropped uint64
	missed  uint64 // greatest number of what was left out
	closed  bool
}

func newQueue(delay time.Duration) *queue {
	q := &queue{urgent: make(chan struct{}, 1), delay: delay, wait: delay}
	q.timer = time.AfterFunc(time.Hour, q.mature)
	q.timer.Stop()
	return q
}

// add hands o over; false when the store is closed.
func (q *queue) add(o *op) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	if o.done != nil {
		q.waiting = append(q.waiting, o)
		if o.all {
			q.ripen()
		}
		nudge(q.urgent)
		return true
	}
	q.record(o)
	return true
}

// room reserves the place of an event that no hook waits for, with size bytes of data,
// to be added; it is false, and the event counts as lost, when there are too many.
func (q *queue) room(number uint64, size int, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.reserve(number, size, now)
}

func (q *queue) reserve(number uint64, size int, now time.Time) bool {
	if least := now.Add(-noteBurst * noteCost); q.paid.Before(least) || now.Before(q.asked.Add(-time.Second)) {
		q.paid = least // also when the clock was set back; those of several senders come only a little out of order
	}
	q.asked = now
	if !q.paid.Before(now) {
		q.missed = max(q.missed, number)
		return false
	}
	q.paid = q.paid.Add(noteCost * time.Duration(1+min(size, redactBytes)/noteBytes))
	q.notes++
	return true
}

// hasRoom reports whether room would be true at the moment.
func (q *queue) hasRoom(now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.paid.Before(now) || now.Before(q.asked.Add(-time.Second))
}

func nothing(*database) error { return nil }

func (q *queue) record(o *op) {
	q.records = append(q.records, o)
	q.added++
	q.bytes += o.size
	q.slim()
	switch {
	case q.bytes > batchBytes/4 || len(q.records)-q.notes >= batchRecords:
		q.ripen()
		nudge(q.urgent)
	case o.note:
		q.wind(lateDelay * q.delay)
	default:
		q.wind(q.wait)
	}
}

// wind has the timer go off after delay, or before. To wake the writer or to set
// a timer wakes a thread, which delays the sender that waits for a verdict, so
// that is not done for each record.
func (q *queue) wind(delay time.Duration) {
	if due := time.Now().Add(delay); q.due.IsZero() || due.Before(q.due) {
		q.due = due
		q.timer.Reset(delay)
	}
}

// mature has the records taken that came since it was last called, and itself
// called again if there were any: more are likely.
func (q *queue) mature() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.due = time.Time{}
	if q.closed || q.added == q.matured {
		return
	}
	q.matured = q.added
	delay := q.wait
	if len(q.records) <= q.notes {
		delay = lateDelay * q.delay
	}
	q.wind(delay)
	q.ripen()
	nudge(q.urgent)
}

// ripen has the next commits take the records that there are. Records that come meanwhile wait
// for company of their own: a commit of one record writes as many pages as one of hundreds. The
// caller holds mu.
func (q *queue) ripen() { q.ripe, q.ripened = true, q.added }

func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// slim keeps the records that cannot be written within their bound, from the
// oldest on. Ends of pending runs stay as such: they are few, as many as runs.
func (q *queue) slim() {
	if q.bytes <= maxBacklog {
		return
	}
	kept := q.records[:0]
	for _, o := range q.records {
		if q.bytes > maxBacklog/2 && o.size > 0 {
			q.bytes -= o.size
			q.miss(o.number)
			if o.lean == nil {
				continue
			}
			o = &op{exec: o.lean, lean: o.lean, after: o.after, event: o.event, ends: o.ends, brings: o.brings}
		}
		kept = append(kept, o)
	}
	clear(q.records[len(kept):])
	q.records = kept
}

// take returns the ops that the next commit writes.
func (q *queue) take() []*op {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch, _ := move(nil, &q.waiting, batchOps)
	if q.ripe {
		var bytes int
		asked := len(batch)
		batch, bytes = move(batch, &q.records, max(batchRecords, len(q.records)/2))
		q.bytes -= bytes
		q.wait = q.delay * time.Duration(min(max(1, (len(batch)-asked)/busyRecords), lateDelay))
		for _, o := range batch {
			if o.note && q.notes > 0 {
				q.notes--
			}
		}
		q.ripe = q.closed || q.added-uint64(len(q.records)) < q.ripened || len(q.records)-q.notes >= batchRecords
	}
	if len(q.records) == 0 {
		q.ripe, q.notes = false, 0
	}
	return batch
}

// move takes ops from the front of a list to the end of batch: most of them, of
// no more than batchBytes, but one at least.
func move(batch []*op, from *[]*op, most int) (_ []*op, bytes int) {
	n, brings := 0, 0
	for ; n < min(len(*from), most) && bytes+brings < batchBytes; n++ {
		bytes += (*from)[n].size
		brings += (*from)[n].brings
	}
	batch = append(batch, (*from)[:n]...)
	clear((*from)[:n])
	if *from = (*from)[n:]; len(*from) == 0 {
		*from = nil
	}
	return batch, bytes
}

// back returns records that could not be written to the front.
func (q *queue) back(records []*op) {
	if len(records) == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.records = append(records, q.records...)
	q.ripen()
	for _, o := range records {
		q.bytes += o.size
	}
	q.slim()
}

// refuse takes everything out that callers wait for.
func (q *queue) refuse(err error) {
	q.mu.Lock()
	waiting := q.waiting
	q.waiting = nil
	q.mu.Unlock()
	for _, o := range waiting {
		o.answer(err)
	}
}

// withdraw takes o out; false when it is no longer there.
func (q *queue) withdraw(o *op) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, w := range q.waiting {
		if w == o {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// drop counts a record that the database refused.
func (q *queue) drop(number uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.miss(number)
}

func (q *queue) miss(number uint64) {
	q.dropped++
	q.missed = max(q.missed, number)
}

// leftOut returns the greatest number of the events and runs left out.
func (q *queue) leftOut() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.missed
}

// progress returns how many records were ever added, and how many of them do
// not wait any more.
func (q *queue) progress() (added, gone uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.added, q.added - uint64(len(q.records))
}

// pressing reports whether there is something for a commit.
func (q *queue) pressing() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) > 0 || q.ripe
}

// weight is how many bytes of records wait.
func (q *queue) weight() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed, q.ripe = true, true
	q.mu.Unlock()
}

func (q *queue) load() (records int, dropped uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.records), q.dropped
}

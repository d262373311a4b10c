package dispatch

import (
	"sync"
	"time"

	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/events"
)

// queue is for observers: it bounds the tasks that wait, and keeps the order that
// a hook asks for. It starts as many runs at once as it has slots; runs of persistent
// hooks take none. It has no goroutine of its own: the call that adds or ends a run
// starts the next runs, and the goroutine of an ended run continues with one of these.
type queue struct {
	// run executes a task and calls ended after it, before it returns: or late, from
	// another goroutine, before or after it returns. If there is no process for the task, run
	// calls putOff, and not ended unless that returns false.
	run  func(t *task, putOff func() bool, ended func(late bool))
	room chan struct{} // an event has left

	// submit begins a task of a persistent hook and calls ended after it,
	// maybe before it returns; nil = they run like any other.
	submit   func(t *task, ended func())
	settings func() int // see Submitter; nil when submit is

	mu        sync.Mutex // guards all below
	slots     int        // free
	maxEvents int
	maxBytes  int64
	closed    bool
	ready     fifo
	pipe      fifo // ready, of persistent hooks; see flow
	flowing   bool
	resting   map[*task]bool        // put off; they keep their place in their strand
	strands   map[strandKey]*strand // that have runs
	hooks     map[string]*usage     // by hook id, only of hooks with a limit
	events    map[*events.Event]int
	bytes     int64
	queued    int
	running   int
}

// QueueShare is the share of Options.MaxBytes for events that wait for their
// observers: half, so that there is room for decided events and
// for the event that is being read.
func QueueShare(maxBytes int64) int64 { return maxBytes / 2 }

func newQueue(slots, maxEvents int, maxBytes int64, run func(*task, func() bool, func(bool))) *queue {
	return &queue{
		run: run, room: make(chan struct{}, 1), slots: slots, maxEvents: maxEvents, maxBytes: maxBytes,
		resting: map[*task]bool{}, strands: map[strandKey]*strand{}, hooks: map[string]*usage{},
		events: map[*events.Event]int{},
	}
}

// reserve makes room for an event and its n tasks, each of which must be pushed or
// abandoned; false when the queue is full. One event larger than the whole queue still
// fits an empty one. An event that is there already has room.
func (q *queue) reserve(e *events.Event, n int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, there := q.events[e]; !there {
		size := int64(len(e.Data))
		if !q.holds(size) {
			return false
		}
		q.bytes += size
	}
	q.events[e] += n
	return true
}

// fits reports whether there is room for an event of size bytes now.
func (q *queue) fits(size int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.holds(size)
}

func (q *queue) holds(size int64) bool {
	return len(q.events) == 0 || len(q.events) < q.maxEvents && q.bytes+size <= q.maxBytes
}

// force makes room for n more tasks of an event, whether there is any or not.
func (q *queue) force(e *events.Event, n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, there := q.events[e]; !there {
		q.bytes += int64(len(e.Data))
	}
	q.events[e] += n
}

// push adds tasks of one event that were reserved; false when the queue is
// closed and they will never start.
func (q *queue) push(tasks []*task) bool {
	if len(tasks) == 0 {
		return true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		for _, t := range tasks {
			q.leave(t.event)
		}
		return false
	}
	q.queued += len(tasks)
	for _, t := range tasks {
		q.enterStrand(t)
	}
	q.start()
	return true
}

// enterStrand puts t behind the runs that it must not overtake, if there are any.
func (q *queue) enterStrand(t *task) {
	key, ordered := t.strandKey()
	if !ordered {
		t.settings = q.pipeOf(t).settings
		q.enterHook(t)
		return
	}
	if t.strand = q.strands[key]; t.strand == nil {
		t.strand = &strand{key: key}
		q.strands[key] = t.strand
	}
	t.strand.waiting.push(t)
	q.advance(t.strand)
}

// advance lets the first runs go on of a strand while they need not wait for those under way.
func (q *queue) advance(l *strand) {
	for t := l.waiting.first(); t != nil; t = l.waiting.first() {
		p := q.pipeOf(t)
		if l.running > 0 && (!p.inOrder || p != l.pipe) {
			return
		}
		l.pipe, t.settings = p, p.settings
		l.running++
		l.waiting.pop()
		q.enterHook(t)
	}
	if l.running == 0 {
		delete(q.strands, l.key)
	}
}

// enterHook makes t ready unless its hook already runs as often as it may.
func (q *queue) enterHook(t *task) {
	if limit := q.limit(t); limit > 0 {
		u := q.hooks[t.match.Hook.ID]
		if u == nil {
			u = &usage{}
			q.hooks[t.match.Hook.ID] = u
		}
		if u.running >= limit {
			u.waiting.push(t)
			return
		}
		u.running++
	}
	q.makeReady(t)
}

func (q *queue) makeReady(t *task) {
	if q.piped(t.match.Hook) {
		q.pipe.push(t)
		return
	}
	q.ready.push(t)
}

// start runs the tasks that are ready while there are slots.
func (q *queue) start() {
	if !q.flowing && !q.closed && !q.pipe.empty() {
		q.flowing = true
		go q.flow()
	}
	for t := q.take(); t != nil; t = q.take() {
		go q.work(t)
	}
}

// take returns a task that is ready, with a slot; nil = there is none now.
func (q *queue) take() *task {
	if q.slots == 0 || q.closed {
		return nil
	}
	t := q.ready.pop()
	if t != nil {
		q.slots--
		q.queued--
		q.running++
	}
	return t
}

// work runs a task, and then each task that gets its slot: they have the stack that the
// goroutine has grown.
func (q *queue) work(t *task) {
	for t != nil {
		t = q.runOne(t)
	}
}

// runOne runs a task and returns the next one; nil = there is none.
func (q *queue) runOne(t *task) (next *task) {
	q.run(t, func() bool { return q.putOff(t) }, func(late bool) {
		if late {
			q.done(t)
			return
		}
		next = q.next(t)
	})
	return next
}

// done gives the slot of a task to the next one.
func (q *queue) done(t *task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free(t)
	q.start()
}

// next is done for a caller that runs one of the tasks that are ready now: nil = there is none.
func (q *queue) next(t *task) (next *task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free(t)
	next = q.take()
	q.start()
	return next
}

// free takes a task out of the running ones, and gives its slot back.
func (q *queue) free(t *task) {
	q.slots++
	q.running--
	q.release(t)
}

// abandon gives a reserved place back.
func (q *queue) abandon(e *events.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.leave(e)
}

func (q *queue) leave(e *events.Event) {
	if q.events[e]--; q.events[e] == 0 {
		delete(q.events, e)
		q.bytes -= int64(len(e.Data))
		select {
		case q.room <- struct{}{}:
		default:
		}
	}
}

// release lets the runs go on that waited for t.
func (q *queue) release(t *task) {
	q.leave(t.event)
	if u, limit := q.hooks[t.match.Hook.ID], q.limit(t); u != nil && limit > 0 {
		if u.running--; u.running < limit {
			if next := u.waiting.pop(); next != nil {
				u.running++
				q.makeReady(next)
			}
		}
		if u.running == 0 && u.waiting.empty() {
			delete(q.hooks, t.match.Hook.ID)
		}
	}
	if l := t.strand; l != nil {
		l.running--
		q.advance(l)
	}
}

// close stops starting runs and returns the tasks that never will run.
func (q *queue) close() []*task {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	left := append(q.ready.drain(), q.pipe.drain()...)
	for t := range q.resting {
		left = append(left, t)
	}
	clear(q.resting)
	for _, u := range q.hooks {
		left = append(left, u.waiting.drain()...)
	}
	for _, strand := range q.strands {
		left = append(left, strand.waiting.drain()...)
	}
	q.queued = 0
	for _, t := range left {
		q.leave(t.event)
	}
	return left
}

// A run that could not start because no process was available is tried again after
// minPause, then twice as long each time, up to maxPause. Chance adds at most half.
const (
	minPause = 50 * time.Millisecond
	maxPause = 10 * time.Second
)

// putOff has a task tried again a little later, in its turn: it was accepted, and that
// there is no process to spare is no fault of its hook. False when hookd stops.
func (q *queue) putOff(t *task) bool {
	if !q.rest(t) {
		return false
	}
	d := pause.About(pause.Doubled(minPause, maxPause, t.short))
	t.short++
	time.AfterFunc(d, func() { q.wake(t) })
	return true
}

// rest takes the slot from a task that could not start. It keeps its place: tasks
// that must not overtake it do not. False when the queue is closed.
func (q *queue) rest(t *task) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.running--
	q.slots++
	q.queued++
	q.resting[t] = true
	q.start()
	return true
}

// wake makes a task ready that rests.
func (q *queue) wake(t *task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.resting[t] {
		delete(q.resting, t)
		q.makeReady(t)
		q.start()
	}
}

func (q *queue) rests() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.resting)
}

func (q *queue) load() (queued, events int, bytes int64, running int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.queued, len(q.events), q.bytes, q.running
}

// flow hands over the tasks that are ready for a pipe, until none is. Only one flow runs
// at a time, so that the order holds.
func (q *queue) flow() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for t := q.pipe.pop(); t != nil; t = q.pipe.pop() {
		q.queued--
		q.running++
		q.mu.Unlock()
		q.submit(t, func() { q.ended(t) })
		q.mu.Lock()
	}
	q.flowing = false
}

// ended gives the place of a piped task to the next one.
func (q *queue) ended(t *task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running--
	q.release(t)
	q.start()
}

func (q *queue) oldest() (oldest time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for e := range q.events {
		if oldest.IsZero() || e.Time.Before(oldest) {
			oldest = e.Time
		}
	}
	return oldest
}

package worker

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Back-off of a hook whose copies die without an answer: after barrenDeaths in
// a row its observers fail at once for minBackoff, then twice as long each
// time, up to maxBackoff.
const (
	barrenDeaths = 3
	minBackoff   = 100 * time.Millisecond
	maxBackoff   = 30 * time.Second
)

// feed is the observers' lane: many lines at once per copy. It has no goroutine
// of its own: whoever brings a call or an answer deals the next ones.
type feed struct {
	pool *Pool

	mu       sync.Mutex // guards what is below, and what its copies say so of
	waiting  calls
	copies   []*fed
	starting int
	barren   int       // deaths since the last answer
	down     time.Time // until then calls fail at once
	why      Answer    // with this
}

func (f *feed) init(p *Pool) { f.pool = p }

func (f *feed) submit(c *Call) {
	f.mu.Lock()
	if f.barren >= barrenDeaths && time.Now().Before(f.down) {
		ans := f.why
		f.mu.Unlock()
		ans.Started = time.Now()
		c.Done(ans)
		return
	}
	if err := f.pool.heldUp(); err != nil && f.open() == 0 {
		f.mu.Unlock()
		c.Done(Answer{Err: notTried(err), Started: time.Now()})
		return
	}
	f.waiting.push(c)
	f.deal()
	f.mu.Unlock()
}

// deal gives waiting calls to copies with room, and starts copies while there
// are calls for them.
func (f *feed) deal() {
	for c := f.waiting.first; c != nil; c = f.waiting.first {
		w := f.room(c)
		if w == nil {
			break
		}
		f.waiting.remove(c)
		w.give(c)
	}
	for open := f.open(); f.starting < f.waiting.n && open+f.starting < f.pool.hook.Copies; {
		f.starting++
		go f.start(f.waiting.first.Timeout)
	}
}

// room returns the copy that is to have c, nil when none has room. While there
// may be more copies than there are, each gets one call only.
func (f *feed) room(c *Call) (best *fed) {
	growing := f.open() < f.pool.hook.Copies
	for _, w := range f.copies {
		if w.takes(c) && (w.calls.n == 0 || !growing) && (best == nil || w.calls.n < best.calls.n) {
			best = w
		}
	}
	return best
}

// open counts the copies that are not about to end.
func (f *feed) open() (n int) {
	for _, w := range f.copies {
		if !w.closed {
			n++
		}
	}
	return n
}

// start starts a copy and deals. It runs in a goroutine of its own, which
// becomes the copy's reader. What waits is not held for longer than patience by
// files that do not answer.
func (f *feed) start(patience time.Duration) {
	o := f.pool.opening()
	overdue := time.AfterFunc(patience, func() { f.overdue(o, patience) })
	p, err := f.pool.start("observers", o)
	overdue.Stop()
	f.mu.Lock()
	f.starting--
	if err != nil {
		lost := f.waiting.take()
		f.mu.Unlock()
		fail(lost, Answer{Err: err})
		return
	}
	w := newFed(f, p)
	f.copies = append(f.copies, w)
	f.deal()
	f.mu.Unlock()
	go w.write()
	w.read()
}

// overdue fails what waits when a start did not come to an end in time and there
// is no other copy for it.
func (f *feed) overdue(o *opening, patience time.Duration) {
	if !o.late() {
		return
	}
	why := o.why()
	f.mu.Lock()
	if f.open() > 0 {
		f.mu.Unlock()
		return
	}
	lost := f.waiting.take()
	f.mu.Unlock()
	fail(lost, Answer{Stalled: why.Error(), TimedOut: true, Duration: patience})
}

// buried takes a copy out that has ended, and what it has not answered back in,
// in front. It returns what fails: what the copy is the second to die of, all
// that waits when the hook only dies, and when nothing is started any more.
func (f *feed) buried(w *fed, died Answer) (lost *Call) {
	stopping := f.pool.set.isClosed()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.copies = slices.DeleteFunc(f.copies, func(other *fed) bool { return other == w })
	unanswered := w.calls.n
	failed := f.giveAgain(w, w.retired(died.Exit))
	if w.answered.Load() > 0 || unanswered == 0 && died.Exit.Code == 0 {
		f.barren = 0
	} else if f.barren++; f.barren >= barrenDeaths {
		f.down, f.why = time.Now().Add(backoff(f.barren-barrenDeaths)), died
		f.why.Failure += "; it only dies, so it is not started again for a while"
		failed.append(f.waiting.take())
	}
	if stopping {
		failed.append(f.waiting.take())
	}
	f.deal()
	return failed.first
}

// giveAgain puts what a copy has not answered in front of what waits, but for
// what it is the second to die of. What it never read, or left behind when it
// retired, counts as not given.
func (f *feed) giveAgain(w *fed, retired bool) (failed calls) {
	reached := w.unwritten == nil
	for c := w.calls.last; c != nil; c = w.calls.last {
		w.calls.remove(c)
		died := reached && !retired
		if died && c.given {
			failed.unshift(c)
			continue
		}
		c.given = c.given || died
		reached = reached || c == w.unwritten
		f.waiting.unshift(c)
	}
	return failed
}

// backoff is how long to wait after the n-th death too many, with jitter.
func backoff(n int) time.Duration {
	d := min(minBackoff<<min(n, 16), maxBackoff)
	return d/2 + rand.N(d)
}

func (f *feed) endIdle() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.copies {
		w.endIfIdle()
	}
}

// idle reports whether nothing waits and nothing starts.
func (f *feed) idle() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waiting.n == 0 && f.starting == 0
}

// fail ends a list of calls.
func fail(c *Call, ans Answer) {
	for c != nil {
		next := c.next
		c.next, c.prev = nil, nil
		ans.Started = c.at
		if c.at.IsZero() {
			ans.Started = time.Now()
		}
		c.Done(ans)
		c = next
	}
}

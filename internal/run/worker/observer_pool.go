package worker

import (
	"slices"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/proc"
)

// Back-off of a hook whose workers end without an answer: after
// deathsBeforeBackOff in a row its calls fail at once for minBackoff, then twice as
// long each time, up to maxBackoff.
const (
	deathsBeforeBackOff = 3
	minBackoff          = 100 * time.Millisecond
	maxBackoff          = 30 * time.Second
)

// observerPool has the workers for observers: each has up to InFlight lines at
// once. It has no goroutine of its own: each new call and each answer assigns the
// calls that wait.
type observerPool struct {
	pool *Pool

	mu            sync.Mutex // guards what is below, and the fields of its workers that say so
	waiting       []*Request // oldest first
	workers       []*observerWorker
	starting      int
	deaths        int // workers that ended since the last answer
	backOffUntil  time.Time
	backOffAnswer Response // of calls until then
}

func (o *observerPool) init(p *Pool) { o.pool = p }

func (o *observerPool) submit(c *Request) {
	o.mu.Lock()
	if o.deaths >= deathsBeforeBackOff && time.Now().Before(o.backOffUntil) {
		ans := o.backOffAnswer
		o.mu.Unlock()
		ans.Started = time.Now()
		c.Done(ans)
		return
	}
	if err := o.pool.overdueStart(); err != nil && o.open() == 0 {
		o.mu.Unlock()
		c.Done(Response{Err: notTried(err), Started: time.Now()})
		return
	}
	o.waiting = append(o.waiting, c)
	o.assign()
	o.mu.Unlock()
}

// cancel ends a call; false when there is none with the id.
func (o *observerPool) cancel(id string) bool {
	o.mu.Lock()
	if c := callOf(o.waiting, []byte(id)); c != nil {
		o.waiting = slices.DeleteFunc(o.waiting, func(other *Request) bool { return other == c })
		o.mu.Unlock()
		fail([]*Request{c}, Response{Failure: failCancelled})
		return true
	}
	defer o.mu.Unlock()
	for _, w := range o.workers {
		if c := callOf(w.calls, []byte(id)); c != nil {
			w.cancel(c)
			return true
		}
	}
	return false
}

// failCancelled is why a call has no answer that was ended before a worker had it.
const failCancelled = "was ended before it was sent to a worker"

// assign moves waiting calls to workers with room, and starts workers for the rest.
func (o *observerPool) assign() {
	for len(o.waiting) > 0 {
		c := o.waiting[0]
		w := o.workerFor(c)
		if w == nil {
			break
		}
		o.waiting = slices.Delete(o.waiting, 0, 1)
		w.enqueue(c)
	}
	for taken := o.taken(); o.starting < len(o.waiting) && taken+o.starting < o.pool.hook.Workers; {
		o.starting++
		go o.startWorker(o.waiting[0].Timeout)
	}
}

// workerFor returns the worker with room for c that has the fewest calls; nil when
// none has room. Until all workers that the hook may have run, each gets one call.
func (o *observerPool) workerFor(c *Request) (best *observerWorker) {
	growing := o.open() < o.pool.hook.Workers
	for _, w := range o.workers {
		if w.hasRoomFor(c) && (len(w.calls) == 0 || !growing) && (best == nil || len(w.calls) < len(best.calls)) {
			best = w
		}
	}
	return best
}

// taken returns how many workers take the place of another one: also workers that are about to
// end and have calls, which are requeued before those waiting.
func (o *observerPool) taken() (n int) {
	for _, w := range o.workers {
		if !w.closing || len(w.calls) > 0 {
			n++
		}
	}
	return n
}

// open returns how many workers are not about to end.
func (o *observerPool) open() (n int) {
	for _, w := range o.workers {
		if !w.closing {
			n++
		}
	}
	return n
}

// warm starts a worker for the first call, unless there is one. It does not wait.
func (o *observerPool) warm(patience time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.starting+o.open() == 0 {
		o.starting++
		go o.startWorker(patience)
	}
}

// startWorker starts a worker and assigns calls. Its goroutine becomes the worker's
// reader. Calls that wait fail after patience if a file's disk does not answer.
func (o *observerPool) startWorker(patience time.Duration) {
	p, err := o.startProcess(patience)
	o.mu.Lock()
	o.starting--
	if err != nil {
		lost := o.takeWaiting()
		o.mu.Unlock()
		fail(lost, Response{Err: err})
		return
	}
	w := newObserverWorker(o, p)
	o.workers = append(o.workers, w)
	o.assign()
	o.mu.Unlock()
	go w.write()
	w.read()
}

// startProcess starts the process of a worker. While the system has none to spare it tries
// again: the calls that wait keep their order.
func (o *observerPool) startProcess(patience time.Duration) (p *process, err error) {
	for tries := 0; ; tries++ {
		s := o.pool.startup()
		overdue := time.AfterFunc(patience, func() { o.startOverdue(s, patience) })
		p, err = o.pool.startWorker("observers", s)
		overdue.Stop()
		if !proc.Short(err) {
			return p, err
		}
		if o.pool.set.opts.Short(err); !o.pool.set.pause(tries) {
			return nil, err
		}
	}
}

// startOverdue is called when a start has not ended in time. Waiting calls fail
// unless there is another worker for them.
func (o *observerPool) startOverdue(s *startup, patience time.Duration) {
	if !s.markOverdue() {
		return
	}
	why := s.waitsFor()
	o.mu.Lock()
	if o.open() > 0 {
		o.mu.Unlock()
		return
	}
	lost := o.takeWaiting()
	o.mu.Unlock()
	fail(lost, Response{Stalled: why.Error(), TimedOut: true, Duration: patience})
}

// handleEnd removes a worker that has ended and requeues its calls in front. It returns
// the calls that fail: calls that ended a worker for the second time. All waiting calls
// fail, too, when the hook backs off or no worker is started any more.
func (o *observerPool) handleEnd(w *observerWorker, died Response) (lost []*Request) {
	stopping := o.pool.set.isClosed()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.workers = slices.DeleteFunc(o.workers, func(other *observerWorker) bool { return other == w })
	unanswered := len(w.calls)
	lost = o.requeue(w, w.cancelled || w.endedByItself(died.Exit))
	if w.cancelled || w.answered.Load() > 0 || unanswered == 0 && died.Exit.Code == 0 {
		o.deaths = 0
	} else if o.deaths++; o.deaths >= deathsBeforeBackOff {
		o.backOffUntil, o.backOffAnswer = time.Now().Add(backoff(o.deaths-deathsBeforeBackOff)), died
		o.backOffAnswer.Failure += "; it keeps ending without an answer, so it is not started again for a while"
		lost = append(lost, o.takeWaiting()...)
	}
	if stopping {
		lost = append(lost, o.takeWaiting()...)
	}
	o.assign()
	return lost
}

// requeue puts the calls that a worker has not answered in front of the calls that
// wait. A call fails when this is the second worker that ended with it. A call that
// the worker had not read does not count, and none does where unrelated: its calls did
// not end the worker.
func (o *observerPool) requeue(w *observerWorker, unrelated bool) (failed []*Request) {
	reached := w.unwritten == nil
	for _, c := range slices.Backward(w.calls) {
		died := reached && !unrelated
		if c.cancelled || died && c.diedOnce {
			failed = append(failed, c)
			continue
		}
		c.diedOnce = c.diedOnce || died
		reached = reached || c == w.unwritten
		o.waiting = slices.Insert(o.waiting, 0, c)
	}
	w.calls = nil
	slices.Reverse(failed)
	return failed
}

// backoff returns the pause before the next start, with jitter; n counts the ends without an answer from
// deathsBeforeBackOff on.
func backoff(n int) time.Duration {
	return pause.About(pause.Doubled(minBackoff, maxBackoff, n))
}

func (o *observerPool) endIdle() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, w := range o.workers {
		w.endIfIdle()
	}
}

// idle reports whether nothing waits and nothing starts. o.mu is held.
func (o *observerPool) idle() bool { return len(o.waiting) == 0 && o.starting == 0 }

// takeWaiting empties the list of waiting calls and returns them. o.mu is held.
func (o *observerPool) takeWaiting() (all []*Request) {
	all, o.waiting = o.waiting, nil
	return all
}

// callOf returns the call of an event, nil if there is none. Answers mostly come
// in order, and the list of a worker is short.
func callOf(list []*Request, id []byte) *Request {
	for _, c := range list {
		if c.ID == string(id) {
			return c
		}
	}
	return nil
}

// fail calls Done of some calls.
func fail(calls []*Request, ans Response) {
	for _, c := range calls {
		ans.Started = c.at
		if c.at.IsZero() {
			ans.Started = time.Now()
		}
		c.Done(ans)
	}
}

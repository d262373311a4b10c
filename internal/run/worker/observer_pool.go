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
	waiting       callList
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
	o.waiting.push(c)
	o.assign()
	o.mu.Unlock()
}

// cancel ends a call; false when there is none with the id.
func (o *observerPool) cancel(id string) bool {
	o.mu.Lock()
	if c := o.waiting.find([]byte(id)); c != nil {
		o.waiting.remove(c)
		o.mu.Unlock()
		fail(c, Response{Failure: failCancelled})
		return true
	}
	defer o.mu.Unlock()
	for _, w := range o.workers {
		if c := w.calls.find([]byte(id)); c != nil {
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
	for c := o.waiting.first; c != nil; c = o.waiting.first {
		w := o.workerFor(c)
		if w == nil {
			break
		}
		o.waiting.remove(c)
		w.enqueue(c)
	}
	for taken := o.taken(); o.starting < o.waiting.n && taken+o.starting < o.pool.hook.Workers; {
		o.starting++
		go o.startWorker(o.waiting.first.Timeout)
	}
}

// workerFor returns the worker with room for c that has the fewest calls; nil when
// none has room. Until all workers that the hook may have run, each gets one call.
func (o *observerPool) workerFor(c *Request) (best *observerWorker) {
	growing := o.open() < o.pool.hook.Workers
	for _, w := range o.workers {
		if w.hasRoomFor(c) && (w.calls.n == 0 || !growing) && (best == nil || w.calls.n < best.calls.n) {
			best = w
		}
	}
	return best
}

// taken returns how many workers take the place of another one: also workers that are about to
// end and have calls, which are requeued before those waiting.
func (o *observerPool) taken() (n int) {
	for _, w := range o.workers {
		if !w.closing || w.calls.n > 0 {
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
		lost := o.waiting.removeAll()
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
	lost := o.waiting.removeAll()
	o.mu.Unlock()
	fail(lost, Response{Stalled: why.Error(), TimedOut: true, Duration: patience})
}

// handleEnd removes a worker that has ended and requeues its calls in front. It returns
// the calls that fail: calls that ended a worker for the second time. All waiting calls
// fail, too, when the hook backs off or no worker is started any more.
func (o *observerPool) handleEnd(w *observerWorker, died Response) (lost *Request) {
	stopping := o.pool.set.isClosed()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.workers = slices.DeleteFunc(o.workers, func(other *observerWorker) bool { return other == w })
	unanswered := w.calls.n
	failed := o.requeue(w, w.cancelled || w.endedByItself(died.Exit))
	if w.cancelled || w.answered.Load() > 0 || unanswered == 0 && died.Exit.Code == 0 {
		o.deaths = 0
	} else if o.deaths++; o.deaths >= deathsBeforeBackOff {
		o.backOffUntil, o.backOffAnswer = time.Now().Add(backoff(o.deaths-deathsBeforeBackOff)), died
		o.backOffAnswer.Failure += "; it keeps ending without an answer, so it is not started again for a while"
		failed.appendAll(o.waiting.removeAll())
	}
	if stopping {
		failed.appendAll(o.waiting.removeAll())
	}
	o.assign()
	return failed.first
}

// requeue puts the calls that a worker has not answered in front of the calls that
// wait. A call fails when this is the second worker that ended with it. A call that
// the worker had not read does not count, and none does that is innocent of the end.
func (o *observerPool) requeue(w *observerWorker, innocent bool) (failed callList) {
	reached := w.unwritten == nil
	for c := w.calls.last; c != nil; c = w.calls.last {
		w.calls.remove(c)
		died := reached && !innocent
		if c.cancelled || died && c.diedOnce {
			failed.unshift(c)
			continue
		}
		c.diedOnce = c.diedOnce || died
		reached = reached || c == w.unwritten
		o.waiting.unshift(c)
	}
	return failed
}

// backoff returns how long to wait after the n-th end too many, with jitter.
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
func (o *observerPool) idle() bool { return o.waiting.n == 0 && o.starting == 0 }

// fail calls Done of c and of all calls linked behind it.
func fail(c *Request, ans Response) {
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

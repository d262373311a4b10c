package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/proc"
)

var errClosed = errors.New("hookd stops, nothing is started any more")

// awaitedPool has the workers for calls that a sender waits for: each worker has
// one line at a time.
//
// The limit on workers holds for each depth of events: a hook that sends an event
// while it works on one, and by that calls itself, gets another worker and does
// not wait for itself.
type awaitedPool struct {
	pool *Pool

	mu    sync.Mutex            // guards what is below
	slots map[int]chan struct{} // by depth
	idle  []*awaitedWorker      // the one used last is used next
	asks  map[string]*asked     // by the id of the call

	warming *warmStart // nil = none is under way
}

// asked is a call that cancel can end.
type asked struct {
	end       context.CancelFunc // of the context of the call
	cancelled bool               // guarded by awaitedPool.mu, as is worker
	worker    *awaitedWorker     // that has the line; nil = none
}

// warmStart is a start that is made before the first call.
type warmStart struct {
	*startup
	over chan struct{} // closed when it has ended or is overdue
}

// awaitedWorker belongs to the caller of acquire until it calls release.
type awaitedWorker struct {
	*process
	clock clock // the deadline of the current line

	using      sync.Mutex // held while a line is answered; guards what is below
	dead       bool
	unanswered int
}

func (a *awaitedPool) init(p *Pool) {
	a.pool, a.slots, a.asks = p, map[int]chan struct{}{}, map[string]*asked{}
}

func (a *awaitedPool) ask(ctx context.Context, c *Request) (ans Response) {
	own, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	q := &asked{end: end}
	a.mu.Lock()
	a.asks[c.ID] = q
	a.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { a.cancel(c.ID, (*awaitedWorker).kill) })
	defer func() {
		stop()
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.asks, c.ID)
		if q.cancelled && ans.PID == 0 {
			ans = Response{Failure: failCancelled, Started: ans.Started, Duration: ans.Duration}
		}
	}()
	return a.askUntil(own, q, c)
}

// cancel ends a call and calls kill for its worker; false when there is none with the id.
func (a *awaitedPool) cancel(id string, kill func(*awaitedWorker)) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.asks[id]
	if q == nil || q.cancelled {
		return q != nil
	}
	q.cancelled = true
	q.end()
	if q.worker != nil {
		go kill(q.worker)
	}
	return true
}

// give notes which worker has the line of a call, nil = none any more, and reports whether the call was
// cancelled before. If it was not, cancel kills that worker from then on.
func (a *awaitedPool) give(q *asked, w *awaitedWorker) (cancelled bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if q.worker = w; q.cancelled {
		q.worker = nil
	}
	return q.cancelled
}

// askUntil asks one worker, and another one where that died of the call. There is no back-off between calls: a
// sender waits, and a guard that is not asked denies.
func (a *awaitedPool) askUntil(ctx context.Context, q *asked, c *Request) (ans Response) {
	start := time.Now()
	until := start.Add(c.Timeout)
	if err := a.pool.overdueStart(); err != nil && !a.hasIdle() {
		return Response{Err: notTried(err), Started: start}
	}
	slots := a.slotsFor(c.Depth)
	if !acquireSlot(ctx, slots, until) {
		return Response{
			Started: start, Duration: time.Since(start),
			Failure: fmt.Sprintf("no worker was free before the deadline (concurrency %d)", a.pool.hook.Workers),
		}
	}
	defer func() { <-slots }()
	ans = Response{Failure: "was not sent to it: hookd stops", Started: start}
	for deaths := 0; deaths < 2 && ctx.Err() == nil; {
		w, err := a.acquire(ctx, until)
		var late *lateStart
		switch {
		case errors.As(err, &late):
			return Response{Stalled: late.Error(), TimedOut: true, Started: start, Duration: time.Since(start)}
		case proc.Short(err) && again(ctx, until):
			continue
		case err != nil:
			return Response{Err: err, Started: start}
		}
		var retry bool
		ans, retry = w.ask(q, c, until)
		if a.release(w); !retry || !time.Now().Before(until) {
			break
		}
		if !w.endedByItself(ans.Exit) {
			deaths++
		}
	}
	return ans
}

// slotsFor returns the slots for events of one depth.
func (a *awaitedPool) slotsFor(depth int) chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.slots[depth] == nil {
		a.slots[depth] = make(chan struct{}, a.pool.hook.Workers)
	}
	return a.slots[depth]
}

// ShortPause is the time between two starts for a sender that waits, while the system is short of processes.
const ShortPause = 20 * time.Millisecond

// again waits for ShortPause; false when until or the end of the call comes before that.
func again(ctx context.Context, until time.Time) bool {
	return time.Until(until) >= ShortPause && pause.For(ShortPause, ctx.Done())
}

// acquireSlot waits for a slot; false when until or the end of the call comes first.
func acquireSlot(ctx context.Context, slots chan struct{}, until time.Time) bool {
	select {
	case slots <- struct{}{}:
		return true
	default:
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case slots <- struct{}{}:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// acquire returns an idle worker, and starts one if there is none. A start that is
// under way to be ready for the first call is waited for.
func (a *awaitedPool) acquire(ctx context.Context, until time.Time) (*awaitedWorker, error) {
	if w := a.popIdle(); w != nil {
		return w, nil
	}
	a.mu.Lock()
	warming := a.warming
	a.mu.Unlock()
	if warming != nil {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		select {
		case <-warming.over:
		case <-timer.C:
			if warming.markOverdue() {
				return nil, &lateStart{warming.waitsFor()}
			}
			<-warming.over
		case <-ctx.Done():
			return nil, errClosed
		}
		if w := a.popIdle(); w != nil {
			return w, nil
		}
	}
	return a.startUntil(ctx, a.pool.startup(), until)
}

// warm starts a worker for the first call, unless there is one or a start is under
// way. It does not wait. A call that is under way starts its own.
func (a *awaitedPool) warm(patience time.Duration) {
	if a.pool.hasWorker("decidable") || a.pool.overdueStart() != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.warming != nil || len(a.asks) > 0 {
		return
	}
	start := &warmStart{startup: a.pool.startup(), over: make(chan struct{})}
	a.warming = start
	go func() {
		w, err := a.startUntil(context.Background(), start.startup, time.Now().Add(patience))
		if err == nil { // else the first call says why
			a.release(w)
		}
		a.mu.Lock()
		a.warming = nil
		a.mu.Unlock()
		close(start.over)
	}()
}

// hasIdle reports whether there is an idle worker.
func (a *awaitedPool) hasIdle() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.idle, func(w *awaitedWorker) bool { return !w.proc.Ended() })
}

// popIdle removes an idle worker from the list and returns it; nil if there is none.
func (a *awaitedPool) popIdle() *awaitedWorker {
	a.mu.Lock()
	defer a.mu.Unlock()
	for n := len(a.idle); n > 0; n = len(a.idle) {
		w := a.idle[n-1]
		a.idle = a.idle[:n-1]
		if !w.proc.Ended() {
			return w
		}
	}
	return nil
}

// lateStart gives the reason for the wait of a start that did not end in time.
type lateStart struct{ error }

// notTried is the error of a call while an earlier start is overdue.
func notTried(why error) error {
	return fmt.Errorf("not tried: an earlier start still waits: %w", why)
}

// startUntil starts a worker. It waits no longer than until: a file whose disk does
// not answer can block a start for ever.
func (a *awaitedPool) startUntil(ctx context.Context, o *startup, until time.Time) (*awaitedWorker, error) {
	if err := a.pool.overdueStart(); err != nil {
		return nil, notTried(err)
	}
	type result struct {
		worker *awaitedWorker
		err    error
	}
	started, left := make(chan result), make(chan struct{})
	go func() {
		w, err := a.startWorker(o)
		select {
		case started <- result{w, err}:
			return
		case <-left:
		}
		if err == nil {
			a.release(w)
		}
	}()
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case r := <-started:
		return r.worker, r.err
	case <-timer.C:
		if !o.markOverdue() {
			r := <-started
			return r.worker, r.err
		}
		close(left)
		return nil, &lateStart{o.waitsFor()}
	case <-ctx.Done():
	}
	close(left)
	return nil, errClosed
}

func (a *awaitedPool) startWorker(o *startup) (*awaitedWorker, error) {
	p, err := a.pool.startWorker("decidable", o)
	if err != nil {
		return nil, err
	}
	w := &awaitedWorker{process: p}
	w.clock.init(w.expire)
	go a.watchEnd(w)
	return w, nil
}

// release makes a worker idle again, or ends it when there are enough.
func (a *awaitedPool) release(w *awaitedWorker) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case w.dead || w.proc.Ended():
	case a.pool.retired.Load() || len(a.idle) >= a.pool.hook.Workers:
		w.end()
	default:
		a.idle = append(a.idle, w)
	}
}

// watchEnd waits until a worker has ended, idle or not.
func (a *awaitedPool) watchEnd(w *awaitedWorker) {
	<-w.proc.Done()
	w.clock.close()
	w.using.Lock() // what it wrote before its end is still read
	defer w.using.Unlock()
	a.mu.Lock()
	a.idle = slices.DeleteFunc(a.idle, func(other *awaitedWorker) bool { return other == w })
	a.mu.Unlock()
	w.release(w.unanswered)
}

func (a *awaitedPool) endIdle() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.idle {
		w.end()
	}
	a.idle = nil
}

// expire kills a worker that missed a deadline.
func (w *awaitedWorker) expire() {
	w.missedDeadline.Store(true)
	w.kill()
}

// ask sends one line and returns its answer. Without one, again reports whether
// the line may be sent to another worker.
func (w *awaitedWorker) ask(q *asked, c *Request, until time.Time) (ans Response, again bool) {
	w.using.Lock()
	defer w.using.Unlock()
	if w.pool.awaited.give(q, w) {
		return Response{Started: time.Now()}, false
	}
	w.depth.Store(int32(c.Depth))
	w.owes.Store(1)
	defer w.owes.Store(0)
	ans.PID, ans.Started = w.proc.PID, time.Now()
	w.clock.set(until)
	body, err := w.exchange(c)
	var refused error
	if err == nil {
		refused = w.confirm(until)
	}
	cancelled := w.pool.awaited.give(q, nil)
	w.dead = !w.clock.stop() || cancelled || err != nil || refused != nil
	ans.Version = w.start.Version
	if refused != nil {
		go w.kill()
		ans.Err, ans.Stderr, ans.Duration = refused, w.proc.Stderr(), time.Since(ans.Started)
		return ans, w.start.Again
	}
	if err == nil {
		w.answered.Add(1)
		ans.Body, ans.Stderr, ans.Duration = body, w.proc.Stderr(), time.Since(ans.Started)
		return ans, false
	}
	w.unanswered = 1
	if !errors.Is(err, io.EOF) {
		w.broken = err
	}
	left := time.Until(until)
	ans.Exit = w.stop(min(exitDelay, left), min(left+w.pool.set.opts.grace, proc.ReapWait))
	ans.Stderr, ans.Duration = w.proc.Stderr(), time.Since(ans.Started)
	ans.Exceeded, ans.TimedOut = errors.Is(err, errTooLong), w.missedDeadline.Load()
	ans.Failure = w.failureText(ans.Exit)
	return ans, !ans.Exceeded && !ans.TimedOut
}

// exchange writes the line and reads until its answer.
func (w *awaitedWorker) exchange(c *Request) ([]byte, error) {
	_ = w.proc.Write(c.Line) // an error shows below, as the end of its output, or at the deadline
	limit := max(c.Limit, verdict.AnswerBytes)
	for {
		for line, ok := w.lines.next(); ok; line, ok = w.lines.next() {
			id, body, err := parse(line)
			switch {
			case len(line) > limit:
				return nil, errTooLong
			case errors.As(err, new(invalid)):
				return nil, err
			case err != nil:
				w.warn(err)
			case string(id) == c.ID:
				return body, nil
			case id != nil:
				w.warn(unexpectedAnswer(id))
			}
		}
		if err := w.lines.fill(limit, w.proc.Read); err != nil {
			return nil, err
		}
	}
}

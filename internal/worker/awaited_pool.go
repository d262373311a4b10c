package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/proc"
)

var errClosed = errors.New("hookd stops, nothing is started any more")

// asks is the lane of those who are waited for: one line at a time per copy.
//
// Copies are counted by the depth of the event: a hook that waits, while it
// works on one event, for another that comes back to itself gets a copy more
// and does not wait for its own place.
type asks struct {
	pool *Pool

	mu    sync.Mutex // guards what is below
	slots map[int]chan struct{}
	idle  []*asked // the one used last is used next
}

// asked is a copy of this lane. Who took it out of idle owns it.
type asked struct {
	*process
	clock clock // of the line that is asked

	using      sync.Mutex // held while a line is asked; guards what is below
	dead       bool
	unanswered int
}

func (a *asks) init(p *Pool) { a.pool, a.slots = p, map[int]chan struct{}{} }

func (a *asks) ask(ctx context.Context, c *Call) (ans Answer) {
	start := time.Now()
	until := start.Add(c.Timeout)
	if err := a.pool.heldUp(); err != nil && !a.rests() {
		return Answer{Err: notTried(err), Started: start}
	}
	slots := a.at(c.Depth)
	if !enter(ctx, slots, until) {
		return Answer{Started: start, Duration: time.Since(start),
			Failure: fmt.Sprintf("no copy of it was free before the deadline (concurrency %d)", a.pool.hook.Copies)}
	}
	defer func() { <-slots }()
	ans = Answer{Failure: "was not given to it: hookd stops", Started: start}
	for deaths := 0; deaths < 2 && ctx.Err() == nil; {
		w, err := a.take(ctx, until)
		var late *lateStart
		switch {
		case errors.As(err, &late):
			return Answer{Stalled: late.Error(), TimedOut: true, Started: start, Duration: time.Since(start)}
		case proc.Short(err) && pause(ctx, shortPause, until):
			continue
		case err != nil:
			return Answer{Err: err, Started: start}
		}
		var again bool
		ans, again = w.ask(c, until)
		if a.put(w); !again || !time.Now().Before(until) {
			break
		}
		if !w.retired(ans.Exit) {
			deaths++
		}
	}
	return ans
}

// at returns the slots of events of one depth.
func (a *asks) at(depth int) chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.slots[depth] == nil {
		a.slots[depth] = make(chan struct{}, a.pool.hook.Copies)
	}
	return a.slots[depth]
}

// shortPause is the time between two starts while the system has no process to
// spare.
const shortPause = 20 * time.Millisecond

// pause waits for d; false when until or the end of ctx comes before that.
func pause(ctx context.Context, d time.Duration, until time.Time) bool {
	if time.Until(until) < d {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// enter waits for a slot.
func enter(ctx context.Context, slots chan struct{}, until time.Time) bool {
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

// take returns an idle copy, and starts one if there is none.
func (a *asks) take(ctx context.Context, until time.Time) (*asked, error) {
	if w := a.rested(); w != nil {
		return w, nil
	}
	return a.begin(ctx, until)
}

// rests reports whether there is an idle copy.
func (a *asks) rests() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.idle, func(w *asked) bool { return !w.kept.Ended() })
}

func (a *asks) rested() *asked {
	a.mu.Lock()
	defer a.mu.Unlock()
	for n := len(a.idle); n > 0; n = len(a.idle) {
		w := a.idle[n-1]
		a.idle = a.idle[:n-1]
		if !w.kept.Ended() {
			return w
		}
	}
	return nil
}

// lateStart says that a copy did not start in time, and what it waited for.
type lateStart struct{ error }

// notTried is the error of a call while another's start is overdue.
func notTried(why error) error { return fmt.Errorf("not tried, as a start of it still waits: %w", why) }

// begin starts a copy and waits for that, at most until then: a file that does
// not answer can hold a start for ever.
func (a *asks) begin(ctx context.Context, until time.Time) (*asked, error) {
	if err := a.pool.heldUp(); err != nil {
		return nil, notTried(err)
	}
	type result struct {
		copy *asked
		err  error
	}
	started, left := make(chan result), make(chan struct{})
	o := a.pool.opening()
	go func() {
		w, err := a.start(o)
		select {
		case started <- result{w, err}:
			return
		case <-left:
		}
		if err == nil {
			a.put(w)
		}
	}()
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case r := <-started:
		return r.copy, r.err
	case <-timer.C:
		if !o.late() { // it has ended just now
			r := <-started
			return r.copy, r.err
		}
		close(left)
		return nil, &lateStart{o.why()}
	case <-ctx.Done():
	}
	close(left)
	return nil, errClosed
}

func (a *asks) start(o *opening) (*asked, error) {
	p, err := a.pool.start("decidable", o)
	if err != nil {
		return nil, err
	}
	w := &asked{process: p}
	w.clock.init(w.expire)
	go a.watch(w)
	return w, nil
}

// put gives a copy back, or ends it when there are enough.
func (a *asks) put(w *asked) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case w.dead || w.kept.Ended():
	case a.pool.retired.Load() || len(a.idle) >= a.pool.hook.Copies:
		w.end()
	default:
		a.idle = append(a.idle, w)
	}
}

// watch waits for the end of a copy, whoever has it then.
func (a *asks) watch(w *asked) {
	<-w.kept.Done()
	w.clock.close()
	w.using.Lock() // what it wrote before its end is still read
	defer w.using.Unlock()
	a.mu.Lock()
	a.idle = slices.DeleteFunc(a.idle, func(other *asked) bool { return other == w })
	a.mu.Unlock()
	w.ended(w.unanswered)
}

func (a *asks) endIdle() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.idle {
		w.end()
	}
	a.idle = nil
}

// expire kills a copy that missed a deadline.
func (w *asked) expire() {
	w.late.Store(true)
	w.kill()
}

// ask gives the copy one line and returns its answer, or how it failed and
// whether the line may be given to another.
func (w *asked) ask(c *Call, until time.Time) (ans Answer, again bool) {
	w.using.Lock()
	defer w.using.Unlock()
	w.depth.Store(int32(c.Depth))
	w.owes.Store(1)
	defer w.owes.Store(0)
	ans.PID, ans.Started = w.kept.PID, time.Now()
	w.clock.set(until)
	body, err := w.talk(c)
	w.dead = !w.clock.stop() || err != nil
	if err == nil {
		w.answered.Add(1)
		ans.Body, ans.Stderr, ans.Duration = body, w.kept.Stderr(), time.Since(ans.Started)
		return ans, false
	}
	w.unanswered = 1
	if !errors.Is(err, io.EOF) {
		w.broken = err
	}
	left := time.Until(until)
	ans.Exit = w.stop(min(lastBreath, left), min(left+w.pool.set.opts.grace, proc.ReapWait))
	ans.Stderr, ans.Duration = w.kept.Stderr(), time.Since(ans.Started)
	ans.Exceeded, ans.TimedOut = errors.Is(err, errTooLong), w.late.Load()
	ans.Failure = w.obituary(ans.Exit)
	return ans, !ans.Exceeded && !ans.TimedOut
}

// talk writes the line and reads until its answer.
func (w *asked) talk(c *Call) ([]byte, error) {
	_ = w.kept.Write(c.Line) // that it has ended shows below; that it has closed its stdin, at the deadline
	limit := max(c.Limit, AnswerBytes)
	for {
		for line, ok := w.lines.next(); ok; line, ok = w.lines.next() {
			id, body, err := parse(line)
			switch {
			case len(line) > limit:
				return nil, errTooLong
			case errors.As(err, new(garbage)):
				return nil, err
			case err != nil:
				w.log(err)
			case string(id) == c.ID:
				return body, nil
			case id != nil:
				w.log(unasked(id))
			}
		}
		if err := w.lines.fill(limit, w.kept.Read); err != nil {
			return nil, err
		}
	}
}

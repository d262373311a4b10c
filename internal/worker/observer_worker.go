package worker

import (
	"bytes"
	"errors"
	"time"

	"github.com/hookd/hookd/internal/proc"
)

// fed is a copy of the observers' lane. One goroutine reads from it, and writes
// what the answers have made room for; another writes what came otherwise, or
// what the copy did not take at once. Both sleep while there is nothing to do.
type fed struct {
	*process
	feed *feed
	wake chan struct{} // there is something to write

	// guarded by feed.mu
	calls     calls // given and not answered, oldest first
	out       []byte
	spare     []byte    // what out was before
	unwritten *Call     // the first whose line is in out
	writing   bool      // somebody writes what was in out
	settling  bool      // the reader deals and will write
	since     time.Time // when the oldest call became that
	timer     *time.Timer
	due       time.Time // when timer goes off; zero = it is not set
	closed    bool      // it takes no more
	missed    *Call
}

func newFed(f *feed, p *process) *fed {
	w := &fed{process: p, feed: f, wake: make(chan struct{}, 1)}
	w.timer = time.AfterFunc(time.Hour, w.expire)
	w.timer.Stop()
	return w
}

// takes reports whether there is room for c. A call that has seen one copy die
// has its next one alone.
func (w *fed) takes(c *Call) bool {
	switch {
	case w.closed || w.ending.Load():
		return false
	case w.calls.n == 0:
		return true
	}
	return w.calls.n < InFlight && len(w.out)+len(c.Line) <= maxUnwritten && !c.given && !w.calls.first.given
}

func (w *fed) give(c *Call) {
	c.at = time.Now()
	if w.calls.n == 0 {
		w.since = c.at
		w.depth.Store(int32(c.Depth))
	} else if d := int32(c.Depth); d > w.depth.Load() {
		w.depth.Store(d)
	}
	w.calls.push(c)
	w.owes.Add(1)
	w.wind()
	w.out = append(w.out, c.Line...)
	if w.unwritten == nil {
		w.unwritten = c
	}
	if !w.settling {
		w.nudge()
	}
}

func (w *fed) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// write writes what has come together since the last write, until the copy
// takes no more.
func (w *fed) write() {
	for range w.wake {
		w.feed.mu.Lock()
		buf := w.take()
		w.feed.mu.Unlock()
		if len(buf) == 0 {
			continue
		}
		if w.kept.Write(buf) != nil {
			return // it has ended, or closed its stdin and will miss its deadline
		}
		w.feed.mu.Lock()
		w.wrote(buf, nil)
		w.feed.mu.Unlock()
	}
}

// take takes what is to be written: nothing while somebody else writes, who
// takes care of the rest in wrote.
func (w *fed) take() []byte {
	if w.writing || len(w.out) == 0 {
		return nil
	}
	buf := w.out
	w.out, w.spare, w.unwritten, w.writing = w.spare[:0], nil, nil, true
	return buf
}

// wrote takes note of what became of buf: the copy did not take the rest.
func (w *fed) wrote(buf, rest []byte) {
	w.writing = false
	if len(rest) > 0 {
		w.out = append(bytes.Clone(rest), w.out...)
	}
	if cap(buf) <= maxUnwritten {
		w.spare = buf
	}
	if len(w.out) > 0 && !w.closed {
		w.nudge()
	}
}

// reply is an answer before it is known whose.
type reply struct {
	id   []byte
	body []byte
}

// read reads answers until the copy has ended or writes garbage, and then sees
// to what it has not answered.
func (w *fed) read() {
	var replies []reply
	for w.broken == nil {
		if err := w.lines.fill(AnswerBytes, w.kept.Read); err != nil {
			if errors.Is(err, errTooLong) {
				w.broken = err
			}
			break
		}
		replies = w.split(replies[:0])
		w.settle(replies)
	}
	w.bury()
}

// split takes the complete lines of what was read.
func (w *fed) split(replies []reply) []reply {
	for line, ok := w.lines.next(); ok; line, ok = w.lines.next() {
		id, body, err := parse(line)
		switch {
		case errors.As(err, new(garbage)):
			w.broken = err
			return replies
		case err != nil:
			w.log(err)
		case id != nil:
			replies = append(replies, reply{id, body})
		}
	}
	return replies
}

// settle finds whose the answers are, makes room for the next calls, and tells.
func (w *fed) settle(replies []reply) {
	if len(replies) == 0 {
		return
	}
	stderr := w.kept.Stderr()
	now := time.Now()
	var done calls
	w.feed.mu.Lock()
	for i := range replies {
		r := &replies[i]
		c := w.calls.find(r.id)
		if c == nil {
			w.log(unasked(r.id))
			continue
		}
		if c == w.calls.first {
			c.at, w.since = w.since, now
		}
		w.forget(c)
		w.answered.Add(1)
		c.answer = r.body
		done.push(c)
	}
	if done.n > 0 {
		w.feed.barren = 0
	}
	w.wind()
	w.settling = true
	w.feed.deal()
	w.settling = false
	if w.pool.retired.Load() {
		w.endIfIdle()
	}
	buf := w.take()
	w.feed.mu.Unlock()
	w.offer(buf) // before anybody hears of the answers: the copy works meanwhile
	for c := done.first; c != nil; {
		next := c.next
		c.next, c.prev = nil, nil
		ans := Answer{Body: c.answer, PID: w.kept.PID, Started: c.at, Duration: now.Sub(c.at)}
		if next == nil {
			ans.Stderr = stderr
		}
		c.Done(ans)
		c = next
	}
}

// offer writes what the copy takes at once. It may have ended; write sees to
// that.
func (w *fed) offer(buf []byte) {
	if len(buf) == 0 {
		return
	}
	n, _ := w.kept.Offer(buf)
	w.feed.mu.Lock()
	defer w.feed.mu.Unlock()
	w.wrote(buf, buf[n:])
}

// forget takes out a call that is answered or will not be. The copy's depth is
// that of the deepest call it has, or of the last one it had.
func (w *fed) forget(c *Call) {
	if w.unwritten == c {
		w.unwritten = c.next
	}
	w.calls.remove(c)
	w.owes.Add(-1)
	if c.Depth == 0 || w.calls.n == 0 {
		return
	}
	deepest := 0
	for c := w.calls.first; c != nil; c = c.next {
		deepest = max(deepest, c.Depth)
	}
	w.depth.Store(int32(deepest))
}

// endIfIdle ends the copy of a retired hook that has nothing more to do.
func (w *fed) endIfIdle() {
	if w.calls.n == 0 && w.feed.waiting.n == 0 {
		w.closed = true
		w.end()
	}
}

// wind sees to it that the timer goes off when the oldest call has had its
// time, or before. It is not set for each call: it goes off once per timeout at
// most, and looks.
func (w *fed) wind() {
	if w.calls.n == 0 || w.closed {
		return
	}
	if due := w.since.Add(w.calls.first.Timeout); w.due.IsZero() || due.Before(w.due) {
		w.due = due
		w.timer.Reset(time.Until(due))
	}
}

// expire kills the copy if its oldest call has had its time.
func (w *fed) expire() {
	w.feed.mu.Lock()
	w.due = time.Time{}
	c := w.calls.first
	if c == nil || w.closed || time.Since(w.since) < c.Timeout {
		w.wind()
		w.feed.mu.Unlock()
		return
	}
	w.missed, w.closed = c, true
	w.feed.mu.Unlock()
	w.late.Store(true)
	w.kept.Kill()
}

// bury makes sure that the copy has ended, and sees to what it has not
// answered.
func (w *fed) bury() {
	exit := w.stop(lastBreath, 2*proc.ReapWait)
	died := Answer{Exit: exit, PID: w.kept.PID, Stderr: w.kept.Stderr(), Failure: w.obituary(exit)}
	w.feed.mu.Lock()
	w.closed = true
	close(w.wake)
	w.timer.Stop()
	missed := w.missed
	if missed != nil && w.calls.holds(missed) {
		w.forget(missed)
	} else {
		missed = nil
	}
	unanswered := w.calls.n
	w.feed.mu.Unlock()
	w.ended(unanswered)
	if missed != nil {
		late := died
		late.TimedOut, late.Started, late.Duration = true, w.since, time.Since(w.since)
		missed.Done(late)
	}
	fail(w.feed.buried(w, died), died)
}

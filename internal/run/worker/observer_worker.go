package worker

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/proc"
)

// observerWorker is a worker of observerPool. Its reader also writes the calls that
// the answers have made room for; its writer writes all others, and the bytes that the pipe
// had no room for. Both sleep while there is nothing to do.
type observerWorker struct {
	*process
	observers *observerPool
	wake      chan struct{} // wakes the writer of output

	// guarded by observers.mu
	calls       []*Request // without an answer, oldest first
	out         []byte     // lines to write
	spare       []byte     // a buffer to reuse as out
	unwritten   *Request   // the first call whose line is in out
	writing     bool       // the reader or the writer is writing
	delivering  bool       // the reader assigns calls and writes them itself
	oldestSince time.Time  // when the first of calls became the first
	timer       *time.Timer
	due         time.Time // when timer fires; zero = not armed
	closing     bool      // it gets no more calls
	missed      *Request  // the one whose deadline passed, or that was cancelled
	cancelled   bool      // the worker is killed for a call that was cancelled
}

func newObserverWorker(o *observerPool, p *process) *observerWorker {
	w := &observerWorker{process: p, observers: o, wake: make(chan struct{}, 1)}
	w.timer = time.AfterFunc(time.Hour, w.expire)
	w.timer.Stop()
	return w
}

// hasRoomFor reports whether c can be added. A call that ended a worker gets the
// next one for itself.
func (w *observerWorker) hasRoomFor(c *Request) bool {
	switch {
	case w.closing || w.ending.Load():
		return false
	case len(w.calls) == 0:
		return true
	}
	return len(w.calls) < InFlight && len(w.out)+len(c.Line) <= maxUnwritten && !c.diedOnce && !w.calls[0].diedOnce
}

func (w *observerWorker) enqueue(c *Request) {
	c.at = time.Now()
	if len(w.calls) == 0 {
		w.oldestSince = c.at
		w.depth.Store(int32(c.Depth))
	} else if d := int32(c.Depth); d > w.depth.Load() {
		w.depth.Store(d)
	}
	w.calls = append(w.calls, c)
	w.owes.Add(1)
	w.armTimer()
	w.out = append(w.out, c.Line...)
	if w.unwritten == nil {
		w.unwritten = c
	}
	if !w.delivering {
		w.wakeWriter()
	}
}

func (w *observerWorker) wakeWriter() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// write is the writer: it writes all lines so far, until the process reads no more.
func (w *observerWorker) write() {
	for range w.wake {
		w.observers.mu.Lock()
		buf := w.nextOutput()
		w.observers.mu.Unlock()
		if len(buf) == 0 {
			continue
		}
		if w.proc.Write(buf) != nil {
			return // the process has ended, or has closed its stdin and will miss its deadline
		}
		w.observers.mu.Lock()
		w.outputWritten(buf, nil)
		w.observers.mu.Unlock()
	}
}

// nextOutput returns the bytes to write. It returns nil while the other goroutine
// writes: that one calls outputWritten, which wakes the writer for the rest.
func (w *observerWorker) nextOutput() []byte {
	if w.writing || len(w.out) == 0 {
		return nil
	}
	buf := w.out
	w.out, w.spare, w.unwritten, w.writing = w.spare[:0], nil, nil, true
	return buf
}

// outputWritten is called when all of buf but rest was written.
func (w *observerWorker) outputWritten(buf, rest []byte) {
	w.writing = false
	if len(rest) > 0 {
		w.out = append(bytes.Clone(rest), w.out...)
	}
	if cap(buf) <= maxUnwritten {
		w.spare = buf
	}
	if len(w.out) > 0 && !w.closing {
		w.wakeWriter()
	}
}

// reply is an answer whose call is not looked up yet.
type reply struct {
	id   []byte
	body []byte
}

// read reads answers until the worker ends or writes an invalid one, then finishes it.
func (w *observerWorker) read() {
	var replies []reply
	for w.broken == nil {
		if err := w.lines.fill(verdict.AnswerBytes, w.proc.Read); err != nil {
			if errors.Is(err, errTooLong) {
				w.broken = err
			}
			break
		}
		replies = w.parseReplies(replies[:0])
		w.deliver(replies)
	}
	w.finish()
}

// parseReplies parses the complete lines that were read.
func (w *observerWorker) parseReplies(replies []reply) []reply {
	for line, ok := w.lines.next(); ok; line, ok = w.lines.next() {
		id, body, err := parse(line)
		switch {
		case errors.As(err, new(invalid)):
			w.broken = err
			return replies
		case err != nil:
			w.warn(err)
		case id != nil:
			replies = append(replies, reply{id, body})
		}
	}
	return replies
}

// deliver finds the calls of the answers, assigns the next calls, and then calls
// Done.
func (w *observerWorker) deliver(replies []reply) {
	if len(replies) == 0 {
		return
	}
	stderr := w.proc.Stderr()
	now := time.Now()
	var done []*Request
	w.observers.mu.Lock()
	for i := range replies {
		r := &replies[i]
		c := callOf(w.calls, r.id)
		if c == nil {
			w.warn(unexpectedAnswer(r.id))
			continue
		}
		if c == w.calls[0] {
			c.at, w.oldestSince = w.oldestSince, now
		}
		w.removeCall(c)
		w.answered.Add(1)
		c.answer = r.body
		done = append(done, c)
	}
	if len(done) > 0 {
		w.observers.deaths = 0
	}
	w.armTimer()
	w.delivering = true
	w.observers.assign()
	w.delivering = false
	if w.pool.retired.Load() {
		w.endIfIdle()
	}
	buf := w.nextOutput()
	w.observers.mu.Unlock()
	w.writeNow(buf) // before Done: the process works meanwhile
	for i, c := range done {
		ans := Response{Body: c.answer, PID: w.proc.PID, Version: w.start.Version}
		ans.Started, ans.Duration = c.at, now.Sub(c.at)
		if i == len(done)-1 {
			ans.Stderr = stderr
		}
		c.Done(ans)
	}
}

// writeNow writes the bytes that the pipe has room for. The writer writes the rest, and sees
// whether the process has ended.
func (w *observerWorker) writeNow(buf []byte) {
	if len(buf) == 0 {
		return
	}
	n, _ := w.proc.TryWrite(buf)
	w.observers.mu.Lock()
	defer w.observers.mu.Unlock()
	w.outputWritten(buf, buf[n:])
}

// removeCall removes a call that is answered or will not be. The worker's depth is
// that of the deepest call it has, or of the last one it had.
func (w *observerWorker) removeCall(c *Request) {
	i := slices.Index(w.calls, c)
	if w.unwritten == c {
		if w.unwritten = nil; i+1 < len(w.calls) {
			w.unwritten = w.calls[i+1]
		}
	}
	w.calls = slices.Delete(w.calls, i, i+1)
	w.owes.Add(-1)
	if c.Depth == 0 || len(w.calls) == 0 {
		return
	}
	deepest := 0
	for _, c := range w.calls {
		deepest = max(deepest, c.Depth)
	}
	w.depth.Store(int32(deepest))
}

// endIfIdle ends the worker of a retired hook when no call is left for it.
func (w *observerWorker) endIfIdle() {
	if len(w.calls) == 0 && len(w.observers.waiting) == 0 {
		w.closing = true
		w.end()
	}
}

// armTimer makes the timer fire at the deadline of the oldest call, or before. It
// is not armed for each call: it fires at most once per timeout, and expire checks.
func (w *observerWorker) armTimer() {
	if len(w.calls) == 0 || w.closing {
		return
	}
	if due := w.oldestSince.Add(w.calls[0].Timeout); w.due.IsZero() || due.Before(w.due) {
		w.due = due
		w.timer.Reset(time.Until(due))
	}
}

// expire kills the process if the deadline of its oldest call has passed.
func (w *observerWorker) expire() {
	w.observers.mu.Lock()
	w.due = time.Time{}
	if len(w.calls) == 0 || w.closing || time.Since(w.oldestSince) < w.calls[0].Timeout {
		w.armTimer()
		w.observers.mu.Unlock()
		return
	}
	w.missed, w.closing = w.calls[0], true
	w.observers.mu.Unlock()
	w.missedDeadline.Store(true)
	w.proc.Kill()
}

// cancel ends a call of the worker as at its deadline. It does not wait for the kill.
func (w *observerWorker) cancel(c *Request) {
	c.cancelled = true
	if w.closing {
		return // it is not sent again
	}
	w.missed, w.closing, w.cancelled = c, true, true
	w.missedDeadline.Store(true)
	go w.proc.Kill()
}

// finish makes sure that the process has ended, and requeues or fails its calls.
func (w *observerWorker) finish() {
	exit := w.stop(exitDelay, 2*proc.ReapWait)
	died := Response{Exit: exit, PID: w.proc.PID, Stderr: w.proc.Stderr(), Failure: w.failureText(exit)}
	w.observers.mu.Lock()
	w.closing = true
	close(w.wake)
	w.timer.Stop()
	missed := w.missed
	if missed != nil && slices.Contains(w.calls, missed) {
		w.removeCall(missed)
	} else {
		missed = nil
	}
	unanswered := len(w.calls)
	w.observers.mu.Unlock()
	w.release(unanswered)
	if missed != nil {
		late := died
		late.TimedOut, late.Started, late.Duration = true, w.oldestSince, time.Since(w.oldestSince)
		missed.Done(late)
	}
	fail(w.observers.handleEnd(w, died), died)
}

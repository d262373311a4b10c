package forward

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/record/audit"
	"github.com/hookd/hookd/internal/record/otlp"
	"github.com/hookd/hookd/wire"
)

// maxBatch is how many decisions one attempt has at most: about 100 KiB.
const maxBatch = 256

// batch has the decisions that one attempt hands on.
type batch struct {
	from      sender
	decisions []wire.Decision
	missed    int64      // decisions that were pruned before they could be handed on
	head      audit.Head // of the audit chain; zero = it is as it was
}

// sink is the way in which a target takes a batch. send returns nil when the target has it for
// sure, and how many decisions the target says that it has thrown away.
type sink interface {
	send(ctx context.Context, b batch) (thrown int64, err error)
}

func newSink(t config.Forward) sink {
	switch t.Type {
	case config.ForwardOTLP:
		return &collector{target: t}
	case config.ForwardWebhook:
		return &webhook{target: t}
	}
	return &file{path: t.Path}
}

// tooMuch reports whether a server may take a smaller batch.
func tooMuch(r *otlp.Refusal) bool { return r.Code == 400 || r.Code == 413 || r.Code == 422 }

// worker hands decisions on to one target.
type worker struct {
	f      *Forwarder
	target config.Forward
	sink   sink
	before *worker // that had the name before; nil = none
	nudge  chan struct{}
	ctx    context.Context
	stop   context.CancelFunc
	ended  chan struct{}

	drains chan chan struct{}

	limit    int             // of the next batch
	fails    int             // in a row
	handed   audit.Head      // the last one that was handed on
	draining []chan struct{} // to close when there is nothing ahead, or it cannot be handed on

	mu     sync.Mutex
	state  wire.Forward
	trying time.Time // since when an attempt is under way; zero = none is
}

func newWorker(f *Forwarder, t config.Forward, before *worker) *worker {
	w := &worker{
		f: f, target: t, sink: newSink(t), before: before, nudge: make(chan struct{}, 1), ended: make(chan struct{}),
		limit: maxBatch, drains: make(chan chan struct{}),
	}
	w.state = wire.Forward{Name: t.Name, Type: t.Type, To: t.URL + t.Path}
	w.ctx, w.stop = context.WithCancel(f.ctx)
	return w
}

// run hands on until the worker is stopped.
func (w *worker) run() {
	defer close(w.ended)
	defer w.stop()
	if w.before != nil {
		if !w.wait(w.before.ended, 0) {
			return
		}
		w.before = nil
	}
	for w.ctx.Err() == nil {
		more, err := w.step()
		switch {
		case w.ctx.Err() != nil:
		case err != nil:
			w.failed(err)
			w.drained()
			w.wait(nil, w.pause(err))
		case !more:
			w.works()
			w.drained()
			if w.wait(w.nudge, 0) && len(w.draining) == 0 {
				w.wait(nil, w.f.o.gather)
			}
		}
	}
}

// wait waits for a channel, or for a time where that is nil, and not while a drain is asked
// for; false = the worker is stopped.
func (w *worker) wait(c <-chan struct{}, d time.Duration) bool {
	var late <-chan time.Time
	if c == nil {
		timer := time.NewTimer(d)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-c:
	case <-late:
	case d := <-w.drains:
		w.draining = append(w.draining, d)
	case <-w.ctx.Done():
		return false
	}
	return true
}

// step hands one batch on; more says that there may be another.
func (w *worker) step() (more bool, err error) {
	ctx, cancel := context.WithTimeout(w.ctx, w.f.o.attempt)
	defer cancel()
	w.try(true)
	defer w.try(false)
	ahead, err := w.f.o.Log.Ahead(ctx, w.target.Name, w.limit)
	if err != nil {
		return false, err
	}
	n := len(ahead.Decisions)
	if n == 0 && ahead.Missed == 0 {
		return false, nil
	}
	b := batch{from: w.f.from, decisions: ahead.Decisions, missed: ahead.Missed}
	if ahead.Head != w.handed {
		b.head = ahead.Head
	}
	thrown, err := w.sink.send(ctx, b)
	if err != nil {
		return false, err
	}
	through := uint64(0)
	if n > 0 {
		through = ahead.Decisions[n-1].Seq
	}
	w.f.o.Places.Forwarded(w.target.Name, through, ahead.Missed)
	w.handed = ahead.Head
	w.sent(n, thrown, ahead.Missed)
	return n > 0, nil
}

func (w *worker) try(begins bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trying = time.Time{}
	if begins {
		w.trying = time.Now()
	}
}

func (w *worker) sent(n int, thrown, missed int64) {
	w.limit = min(2*w.limit, maxBatch)
	w.mu.Lock()
	w.state.Sent += uint64(n)
	w.state.Refused += uint64(thrown)
	w.mu.Unlock()
	w.works()
	if missed > 0 {
		w.log().Warn("decisions were pruned before they could be handed on", zap.Int64("decisions", missed))
	}
	if thrown > 0 {
		w.log().Warn("the target says that it has thrown decisions away", zap.Int64("decisions", thrown))
	}
}

// failed notes a failure, and logs it when it is another one than before.
func (w *worker) failed(err error) {
	w.fails++
	var r *otlp.Refusal
	if errors.As(err, &r) && tooMuch(r) {
		w.limit = max(1, w.limit/2)
	}
	w.mu.Lock()
	again := w.state.Error == err.Error()
	w.state.Error = err.Error()
	w.state.Failed++
	if w.state.Since == nil {
		now := time.Now()
		w.state.Since = &now
	}
	w.mu.Unlock()
	if !again {
		w.log().Warn("decisions cannot be handed on, they wait in the history", zap.Error(err))
	}
}

// pause is how long to back off: twice as long after each failure, within a fifth by
// chance, and as long as the server asks for within five minutes.
func (w *worker) pause(err error) time.Duration {
	const longest = 5 * time.Minute
	d := pause.Doubled(w.f.o.backoff, maxBackoff, w.fails-1)
	d += time.Duration(rand.Int64N(int64(d)/5 + 1))
	var r *otlp.Refusal
	if errors.As(err, &r) {
		d = max(d, min(r.After, longest))
	}
	return d
}

// works notes that the last attempt did not fail.
func (w *worker) works() {
	w.mu.Lock()
	failing := w.state.Error != ""
	w.state.Error, w.state.Since, w.fails = "", nil, 0
	w.mu.Unlock()
	if failing {
		w.log().Info("decisions are handed on again")
	}
}

func (w *worker) drained() {
	for _, d := range w.draining {
		close(d)
	}
	w.draining = nil
}

// drain returns when the worker has looked, and there was nothing ahead or it could not be
// handed on.
func (w *worker) drain(ctx context.Context) {
	d := make(chan struct{})
	select {
	case w.drains <- d:
	case <-w.ended:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-d:
	case <-w.ended:
	case <-ctx.Done():
	}
}

// hangs is after how long an attempt under way is said to hang.
func (w *worker) hangs() time.Duration { return w.f.o.attempt + w.f.o.attempt/3 }

func (w *worker) status() wire.Forward {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.state
	if !w.trying.IsZero() && time.Since(w.trying) > w.hangs() {
		since := w.trying
		s.Since, s.Error = &since, fmt.Sprintf("an attempt hangs since %s", since.Format(time.TimeOnly))
	}
	return s
}

func (w *worker) log() *zap.Logger {
	return w.f.o.Logger.Named("forward").With(zap.String("target", w.target.Name))
}

package dispatch

import (
	"container/heap"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/wire"
)

// maxBackoff is the longest time between two attempts.
const maxBackoff = time.Hour

// conclude records a run and the fate of its task: nil for a run that was
// never queued.
func (rs *retries) conclude(t *task, r wire.Run) {
	if t == nil {
		rs.recorder.Finished(events.PendingKey{}, r, Fate{})
		return
	}
	if t.durable && rs.ctx.Err() != nil && failed(r.Result) {
		return // killed because hookd stops: the next start finds it, as interrupted
	}
	fate := t.fate(r, time.Now())
	if fate.Dead != "" {
		rs.log.Warn(
			"hook given up after its retries",
			zap.String("hook", r.Hook),
			zap.String("event", r.Event),
			zap.String("event_id", r.EventID),
			zap.String("run_id", r.ID),
			zap.Int("attempts", t.attempt+1),
		)
	}
	if !t.durable {
		rs.recorder.Finished(events.PendingKey{}, r, Fate{})
	} else {
		rs.recorder.Finished(t.key(), r, fate)
	}
	if !fate.Again.IsZero() {
		rs.add(t, fate.Again)
	}
}

// fate is the future of the task after a run.
func (t *task) fate(r wire.Run, now time.Time) Fate {
	retry := t.match.Hook.Retry
	switch {
	case !failed(r.Result) || retry.Max == 0:
		return Fate{Ended: true}
	case t.attempt < retry.Max:
		return Fate{Again: now.Add(delay(retry, t.attempt))}
	}
	return Fate{Dead: fmt.Sprintf("failed %d times, last: %s", t.attempt+1, r.Error)}
}

// delay is the time before the attempt that follows attempt: it doubles each time, and
// is shortened by up to a half at random. So runs that failed together are not tried
// together.
func delay(p hook.Retry, attempt int) time.Duration {
	return pause.Within(pause.Doubled(p.Backoff, maxBackoff, attempt))
}

// retries are the runs that wait for their next attempt. A run that is kept on disk
// takes a few words here, however long it waits. It has one timer, and no
// goroutine.
type retries struct {
	*lifetime
	again func(retry) // called in a goroutine of its own when one is due

	mu      sync.Mutex // guards all below
	waiting retryHeap
	timer   *time.Timer
	stopped bool
}

type retry struct {
	due      time.Time
	key      events.PendingKey
	attempt  int
	event    *events.Event // nil = on disk
	byPerson bool          // a person wants it: if it cannot run it is a dead letter again
}

type retryHeap []retry

func (h retryHeap) Len() int           { return len(h) }
func (h retryHeap) Less(i, j int) bool { return h[i].due.Before(h[j].due) }
func (h retryHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *retryHeap) Push(x any)        { *h = append(*h, x.(retry)) }

func (h *retryHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = retry{}
	*h = old[:len(old)-1]
	return last
}

// add has t tried again when it is due.
func (rs *retries) add(t *task, due time.Time) {
	r := retry{due: due, key: t.key(), attempt: t.attempt + 1}
	if !t.durable {
		r.event = t.event
	}
	rs.push(r)
}

func (rs *retries) push(r retry) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	heap.Push(&rs.waiting, r)
	rs.arm()
}

// arm sets the timer to the first that is due.
func (rs *retries) arm() {
	if rs.stopped || len(rs.waiting) == 0 {
		return
	}
	wait := time.Until(rs.waiting[0].due)
	if rs.timer == nil {
		rs.timer = time.AfterFunc(wait, rs.fire)
		return
	}
	rs.timer.Reset(wait)
}

func (rs *retries) fire() {
	rs.mu.Lock()
	var due []retry
	for now := time.Now(); !rs.stopped && len(rs.waiting) > 0 && !rs.waiting[0].due.After(now); {
		due = append(due, heap.Pop(&rs.waiting).(retry))
	}
	rs.arm()
	rs.mu.Unlock()
	for _, r := range due {
		rs.again(r)
	}
}

func (rs *retries) count() int {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return len(rs.waiting)
}

// stop has none start any more.
func (rs *retries) stop() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.stopped = true
	if rs.timer != nil {
		rs.timer.Stop()
	}
}

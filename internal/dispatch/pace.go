package dispatch

import (
	"slices"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/hooks/hook"
)

// pace delays observers of hooks with debounce or throttle. A delayed task has its
// place in the queue, and its pending run on disk if it is kept: a crash loses none.
type pace struct {
	mu      sync.Mutex             // guards what is below
	delayed map[strandKey]*task    // the newest of its hook and session; its window is open
	begun   map[string][]time.Time // of hooks with a throttle: when runs began, oldest first
	closed  bool
}

// enqueue queues tasks, each of them counted as pending; tasks that come too
// often do not get there.
func (o *observers) enqueue(tasks []*task) { o.push(o.paced(tasks)) }

// paced returns the tasks that may start now. Of the others, some wait for the end of
// their window, and some are merged.
func (o *observers) paced(tasks []*task) []*task {
	isFree := func(t *task) bool {
		h := t.match.Hook
		return t.attempt > 0 || h.Debounce == 0 && h.Throttle.Runs == 0
	}
	if !slices.ContainsFunc(tasks, func(t *task) bool { return !isFree(t) }) {
		return tasks
	}
	var now []*task
	for _, t := range tasks {
		switch {
		case isFree(t):
			now = append(now, t)
		case t.match.Hook.Debounce > 0:
			o.delay(t)
		default:
			now = append(now, o.throttled(t)...)
		}
	}
	return now
}

// delay keeps a task until its window ends, which the first of the session opens. A newer
// one takes its place.
func (o *observers) delay(t *task) {
	key := strandKey{hook: t.match.Hook.ID, session: t.session()}
	older, ok := o.pace.put(key, t)
	switch {
	case !ok:
		o.queue.abandon(t.event)
		o.endUnstarted([]*task{t})
	case older != nil:
		o.merge(older, "a newer event of the session came within "+t.match.Hook.Debounce.String())
	default:
		time.AfterFunc(t.match.Hook.Debounce, func() {
			if last := o.pace.take(key); last != nil {
				o.push(o.throttled(last))
			}
		})
	}
}

// throttled returns the task if it may start now; else it is merged.
func (o *observers) throttled(t *task) []*task {
	if rate := t.match.Hook.Throttle; rate.Runs > 0 && !o.pace.allow(t.match.Hook.ID, rate, time.Now()) {
		o.merge(t, "more than "+rate.String())
		return nil
	}
	return []*task{t}
}

// merge records a task that another one stands for.
func (o *observers) merge(t *task, why string) {
	defer o.pending.Done()
	o.queue.abandon(t.event)
	o.runs.merged(t, why)
}

// put makes t the newest of its window; older is the one before it, nil when t opens
// the window. ok is false when hookd stops.
func (p *pace) put(key strandKey, t *task) (older *task, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false
	}
	if p.delayed == nil {
		p.delayed = map[strandKey]*task{}
	}
	older, p.delayed[key] = p.delayed[key], t
	return older, true
}

// take ends a window and returns its task; nil when hookd stops.
func (p *pace) take(key strandKey) *task {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.delayed[key]
	delete(p.delayed, key)
	return t
}

// allow reports whether a run may begin now, and counts it.
func (p *pace) allow(id string, rate hook.Rate, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.begun == nil {
		p.begun = map[string][]time.Time{}
	}
	recent := slices.DeleteFunc(p.begun[id], func(at time.Time) bool { return now.Sub(at) >= rate.Per })
	free := len(recent) < rate.Runs
	if free {
		recent = append(recent, now)
	}
	p.begun[id] = recent
	return free
}

// close returns the tasks that are delayed; none is from now on.
func (p *pace) close() (delayed []*task) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, t := range p.delayed {
		delayed = append(delayed, t)
	}
	clear(p.delayed)
	return delayed
}

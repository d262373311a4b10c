package dispatch

import (
	"slices"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/wire"
)

// pace holds back observers of hooks with debounce or throttle. A held task has its
// place in the queue, and its pending run on disk if it is kept: a crash loses none.
type pace struct {
	mu     sync.Mutex             // guards what is below
	held   map[laneKey]*task      // the newest of its hook and session; its window is open
	begun  map[string][]time.Time // of hooks with a throttle: when runs began, oldest first
	closed bool
}

// enqueue queues tasks, each of them counted as pending; tasks that come too
// often do not get there.
func (d *Dispatcher) enqueue(tasks []*task) { d.push(d.paced(tasks)) }

// paced returns the tasks that may start now. Of the others, some wait for the end of
// their window, and some are merged.
func (d *Dispatcher) paced(tasks []*task) []*task {
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
			d.hold(t)
		default:
			now = append(now, d.throttled(t)...)
		}
	}
	return now
}

// hold keeps a task until its window ends, which the first of the session opens. A newer
// one takes its place.
func (d *Dispatcher) hold(t *task) {
	key := laneKey{hook: t.match.Hook.ID, session: t.session()}
	older, ok := d.pace.put(key, t)
	switch {
	case !ok:
		d.queue.abandon(t.event)
		d.endUnstarted([]*task{t})
	case older != nil:
		d.merge(older, "a newer event of the session came within "+t.match.Hook.Debounce.String())
	default:
		time.AfterFunc(t.match.Hook.Debounce, func() {
			if last := d.pace.take(key); last != nil {
				d.push(d.throttled(last))
			}
		})
	}
}

// throttled returns the task if it may start now; else it is merged.
func (d *Dispatcher) throttled(t *task) []*task {
	if rate := t.match.Hook.Throttle; rate.Runs > 0 && !d.pace.allow(t.match.Hook.ID, rate, time.Now()) {
		d.merge(t, "more than "+rate.String())
		return nil
	}
	return []*task{t}
}

// merge records a task that another one stands for.
func (d *Dispatcher) merge(t *task, why string) {
	defer d.pending.Done()
	d.queue.abandon(t.event)
	now := time.Now()
	a := t.try()
	a.out = Outcome{ExitCode: -1, Started: now}
	a.run = d.record(a, events.NewRunID(now))
	a.run.Result, a.run.Reason = wire.ResultMerged, why
	d.conclude(t, a.run)
	t.report(a.run)
}

// put makes t the newest of its window; older is the one before it, nil when t opens
// the window. ok is false when hookd stops.
func (p *pace) put(key laneKey, t *task) (older *task, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false
	}
	if p.held == nil {
		p.held = map[laneKey]*task{}
	}
	older, p.held[key] = p.held[key], t
	return older, true
}

// take ends a window and returns its task; nil when hookd stops.
func (p *pace) take(key laneKey) *task {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.held[key]
	delete(p.held, key)
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

// close returns the tasks that are held; none is held from now on.
func (p *pace) close() (held []*task) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, t := range p.held {
		held = append(held, t)
	}
	clear(p.held)
	return held
}

package dispatch

import (
	"context"
	"time"

	"github.com/hookd/hookd/internal/hook"
)

// Window is how many runs of observers a copy of a persistent hook has at once.
const Window = 64

// Submitter is a Runner that runs observers' jobs of persistent hooks without
// a goroutine for each. Submit does not block; done is called once, when the
// job has ended or ctx has killed it. Jobs of one hook begin in the order in
// which they were submitted.
type Submitter interface {
	Submit(ctx context.Context, j *Job, done func(Outcome))
}

// piped reports whether the hook's observers go through its pipe: they take no
// slot then, and as many run at once as its copies take.
func (q *queue) piped(h *hook.Hook) bool { return h.Persistent && q.submit != nil }

// limit is how many runs of the task's hook there may be at once; 0 = any number.
func (q *queue) limit(t *task) int {
	h := t.match.Hook
	if q.piped(h) {
		return Window * max(1, h.Concurrency)
	}
	return h.Concurrency
}

// lane is the task's own, but for a hook with one pipe, which keeps the order of
// sessions by itself: its runs need not wait for each other.
func (q *queue) lane(t *task) (key laneKey, ordered bool) {
	if h := t.match.Hook; q.piped(h) && h.Concurrency <= 1 && h.Order != hook.OrderSerial {
		return laneKey{}, false
	}
	return t.lane()
}

// flow hands what is ready for a pipe over, until nothing is. There is one of
// it at a time, so that the order holds.
func (q *queue) flow() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for t := q.pipe.pop(); t != nil; t = q.pipe.pop() {
		q.queued--
		q.running++
		q.mu.Unlock()
		q.submit(t, func() { q.ended(t) })
		q.mu.Lock()
	}
	q.flowing = false
}

// ended gives the place of a piped task to the next one.
func (q *queue) ended(t *task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running--
	q.release(t)
	q.start()
}

// submit runs one task of a persistent hook; ended is called after it.
func (d *Dispatcher) submit(t *task, ended func()) {
	a := t.try()
	over := d.prepareJob(a)
	done := func(out Outcome) {
		over()
		if out.Short && d.putOff(t) {
			return
		}
		defer d.pending.Done()
		d.end(a, out)
		t.tell(a.run)
		ended()
	}
	if a.job.unfit != nil {
		done(unstartable(a.job.unfit))
		return
	}
	d.opts.Runner.(Submitter).Submit(a.job.ctx, a.job, done)
}

// Starting is to be called before a process is started that is kept, and known
// when Joined was called for it or it did not start: until then, who sends an
// event and may be this process is waited for.
func (d *Dispatcher) Starting() (known func()) { return d.chain.starting(0) }

// Joined makes a process known that is kept for many runs of a hook, so that
// events which it sends are counted as deep as depth says plus one. left
// forgets it.
func (d *Dispatcher) Joined(hook string, p Process, depth func() int) (left func()) {
	return d.chain.joined(hook, p, depth)
}

func (c *chain) joined(hook string, p Process, depth func() int) (left func()) {
	l := &link{pgid: p.PID, cgroup: p.Cgroup, hook: hook, live: depth}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweep()
	c.enter(l)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		l.depth, l.live = l.live(), nil
		c.left = append(c.left, l)
		c.sweep()
	}
}

// busy counts a run of a process that is kept; the returned function ends it.
func (c *chain) busy(depth int) (over func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.depths[depth].running++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.depths[depth].running--
		c.depths[depth].ended = time.Now()
	}
}

// at is the depth of what the link's processes work on.
func (l *link) at() int {
	if l.live != nil {
		return min(l.live(), MaxDepth)
	}
	return l.depth
}

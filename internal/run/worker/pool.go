package worker

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/wire"
)

// Pool has the workers of one hook.
type Pool struct {
	set     *Set
	key     Key
	hook    Startup
	log     *zap.Logger
	retired atomic.Bool // the hook is not in force any more

	awaited   awaitedPool
	observers observerPool

	mu      sync.Mutex // guards what is below
	workers map[*process]bool
	overdue map[*startup]bool // starts that did not end in time
	starts  int
}

func newPool(s *Set, key Key, h Startup) *Pool {
	h.Workers = cmp.Or(h.Workers, 1)
	p := &Pool{
		set: s, key: key, hook: h, log: s.log.With(zap.String("hook", h.Name)),
		workers: map[*process]bool{}, overdue: map[*startup]bool{},
	}
	p.awaited.init(p)
	p.observers.init(p)
	return p
}

// Ask sends the call to an idle worker and returns the answer. It blocks for at
// most the call's timeout and 200 ms, even where a process cannot be started or
// killed. The timeout includes the wait for an idle worker and its start. When ctx ends,
// the worker that has the call is killed, and the call fails.
func (p *Pool) Ask(ctx context.Context, c *Request) Response { return p.awaited.ask(ctx, c) }

// Submit queues the call for a worker, and calls c.Done when it has an answer or
// has failed. It does not block.
func (p *Pool) Submit(c *Request) { p.observers.submit(c) }

// Cancel ends the call with the id, as at its deadline, of any version of the hook: the
// worker that has it is killed, and the other calls of that worker are sent again. A call
// that waits for a worker fails. It reports whether there is such a call, and does not
// wait for its end.
func (s *Set) Cancel(hookID, id string) bool {
	s.mu.RLock()
	var pools []*Pool
	for key, p := range s.pools {
		if key.ID == hookID {
			pools = append(pools, p)
		}
	}
	s.mu.RUnlock()
	for _, p := range pools {
		if p.awaited.cancel(id, (*awaitedWorker).expire) || p.observers.cancel(id) {
			return true
		}
	}
	return false
}

// warmPatience is how long the start of a worker may take for which no call waits.
const warmPatience = time.Minute

// Warm starts a worker before the first call: for calls that are awaited, or for the
// others. It does not wait; the first call reports a failure that keeps the worker from starting.
func (p *Pool) Warm(awaited bool) {
	if awaited {
		p.awaited.warm(warmPatience)
		return
	}
	p.observers.warm(warmPatience)
}

// startTries bounds how often a worker is started again because its files were other ones
// while it started.
const startTries = 3

// startWorker starts a process and adds it to the pool.
func (p *Pool) startWorker(slots string, o *startup) (w *process, err error) {
	defer o.end()
	for try := 1; ; try++ {
		if w, err = p.startOnce(slots, o); err != nil || slots != "observers" || w.start.Confirm == nil {
			return w, err
		}
		if err = w.start.Confirm(); err == nil {
			return w, nil
		}
		w.ending.Store(true)
		w.proc.Kill()
		w.release(0)
		if !w.start.Again || try == startTries {
			return nil, err
		}
	}
}

func (p *Pool) startOnce(slots string, o *startup) (*process, error) {
	start, err := p.hook.Start(o.looks)
	if err != nil {
		return nil, err
	}
	if !p.set.countStart() {
		return nil, errClosed
	}
	o.beginsProcess()
	start.Spec.Looks = o.looks
	started, err := p.set.opts.Proc.StartWorker(context.Background(), start.Spec)
	if err != nil {
		p.set.alive.Done()
		return nil, err
	}
	w := &process{pool: p, slots: slots, proc: started, start: start}
	w.onEnd = p.set.opts.Joined(p.key.ID, started.Process, func() int { return int(w.depth.Load()) })
	p.mu.Lock()
	p.workers[w] = true
	p.starts++
	p.mu.Unlock()
	if p.set.isClosed() { // Kill may have missed it
		started.Kill()
	}
	return w, nil
}

// hasWorker reports whether a worker for such slots lives.
func (p *Pool) hasWorker(slots string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := range p.workers {
		if w.slots == slots {
			return true
		}
	}
	return false
}

// remove removes a worker that has ended.
func (p *Pool) remove(w *process) {
	p.mu.Lock()
	delete(p.workers, w)
	p.mu.Unlock()
	p.set.alive.Done()
	if p.retired.Load() {
		p.set.removeIfEmpty(p)
	}
}

// empty reports whether no worker lives, and no call of an observer waits. The lock of the
// observers comes before the pool's, here as in submit.
func (p *Pool) empty() bool {
	p.observers.mu.Lock()
	defer p.observers.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.workers) == 0 && p.observers.idle()
}

// endIdle ends the idle workers. The others of a retired hook end when they have
// answered.
func (p *Pool) endIdle() {
	p.awaited.endIdle()
	p.observers.endIdle()
	p.set.removeIfEmpty(p)
}

func (p *Pool) kill(all bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := range p.workers {
		if all || w.owes.Load() > 0 {
			go w.kill()
		}
	}
}

// Workers returns the workers that live, oldest first, and how many were started.
// It returns none for a hook without calls so far.
func (s *Set) Workers(key Key) (list []wire.Worker, starts int) {
	s.mu.RLock()
	p := s.pools[key]
	s.mu.RUnlock()
	if p == nil {
		return nil, 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := range p.workers {
		list = append(list, wire.Worker{
			PID: w.proc.PID, Slots: w.slots, Started: w.proc.Start.UTC(),
			Owes: int(w.owes.Load()), Answered: w.answered.Load(),
		})
	}
	slices.SortFunc(list, func(a, b wire.Worker) int { return a.Started.Compare(b.Started) })
	return list, p.starts
}

// Alive returns how many workers of all hooks live.
func (s *Set) Alive() (n int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.pools {
		p.mu.Lock()
		n += len(p.workers)
		p.mu.Unlock()
	}
	return n
}

// countStart counts one more worker; false when no more are to be started.
func (s *Set) countStart() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if !s.closed {
		s.alive.Add(1)
	}
	return !s.closed
}

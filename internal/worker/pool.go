package worker

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// Pool is the copies of one hook.
type Pool struct {
	set     *Set
	key     Key
	hook    Hook
	log     *zap.Logger
	retired atomic.Bool // its hook is not in force any more

	asks asks
	feed feed

	mu      sync.Mutex // guards what is below
	copies  map[*process]bool
	overdue map[*opening]bool // starts that did not end in time
	starts  int
}

func newPool(s *Set, key Key, h Hook) *Pool {
	h.Copies = cmp.Or(h.Copies, 1)
	p := &Pool{set: s, key: key, hook: h, log: s.log.With(zap.String("hook", h.Name)), copies: map[*process]bool{}, overdue: map[*opening]bool{}}
	p.asks.init(p)
	p.feed.init(p)
	return p
}

// Ask gives the call to a copy that has nothing else to do, and returns its
// answer. It blocks until then, at most for the call's timeout and 200 ms, even
// where a process cannot be started or killed. All of that counts: the wait for
// a free copy and its start, too.
func (p *Pool) Ask(ctx context.Context, c *Call) Answer { return p.asks.ask(ctx, c) }

// Submit gives the call to a copy when there is room, and calls c.Done when it
// was answered or has failed. It does not block.
func (p *Pool) Submit(c *Call) { p.feed.submit(c) }

// start starts a copy.
func (p *Pool) start(lane string, o *opening) (*process, error) {
	defer o.end()
	spec, err := p.hook.Spec(o.looks)
	if err != nil {
		return nil, err
	}
	if !p.set.enter() {
		return nil, errClosed
	}
	o.starting()
	spec.Looks = o.looks
	kept, err := p.set.opts.Proc.Keep(context.Background(), spec)
	if err != nil {
		p.set.alive.Done()
		return nil, err
	}
	w := &process{pool: p, lane: lane, kept: kept}
	w.left = p.set.opts.Joined(p.key.ID, kept.Process, func() int { return int(w.depth.Load()) })
	p.mu.Lock()
	p.copies[w] = true
	p.starts++
	p.mu.Unlock()
	if p.set.isClosed() { // Kill may have missed it
		kept.Kill()
	}
	return w, nil
}

// drop forgets a copy that has ended.
func (p *Pool) drop(w *process) {
	p.mu.Lock()
	delete(p.copies, w)
	p.mu.Unlock()
	p.set.alive.Done()
	if p.retired.Load() {
		p.set.forget(p)
	}
}

func (p *Pool) empty() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.copies) == 0 && p.feed.idle()
}

// endIdle ends the copies that have nothing to do. The others of a retired
// hook follow when they have answered.
func (p *Pool) endIdle() {
	p.asks.endIdle()
	p.feed.endIdle()
	p.set.forget(p)
}

func (p *Pool) kill(all bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := range p.copies {
		if all || w.owes.Load() > 0 {
			go w.kill()
		}
	}
}

// Copy is one process of a hook as it stands.
type Copy struct {
	PID      int
	Lane     string // decidable, observers
	Started  time.Time
	Owes     int // answers
	Answered uint64
}

// Copies returns the copies that live, oldest first, and how many were started
// so far. A pool that nothing was asked of has none.
func (s *Set) Copies(key Key) (list []Copy, starts int) {
	s.mu.RLock()
	p := s.pools[key]
	s.mu.RUnlock()
	if p == nil {
		return nil, 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := range p.copies {
		list = append(list, Copy{PID: w.kept.PID, Lane: w.lane, Started: w.kept.Start.UTC(), Owes: int(w.owes.Load()), Answered: w.answered.Load()})
	}
	slices.SortFunc(list, func(a, b Copy) int { return a.Started.Compare(b.Started) })
	return list, p.starts
}

// Alive counts the copies of all hooks that live.
func (s *Set) Alive() (n int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.pools {
		p.mu.Lock()
		n += len(p.copies)
		p.mu.Unlock()
	}
	return n
}

// enter counts one more copy; false when none is to be started any more.
func (s *Set) enter() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if !s.closed {
		s.alive.Add(1)
	}
	return !s.closed
}

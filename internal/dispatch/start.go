package dispatch

import (
	"sync"
	"time"
)

// startWait bounds how long a sender waits for the start of its own run to be
// known. A start takes about a millisecond; one that hangs has no senders.
const startWait = 5 * time.Second

// starts are the runs whose process may exist but is not known yet: on a busy
// machine a hook can send an event before the call that started it returns.
type starts struct {
	last  uint64         // number of the last one
	under map[uint64]int // depth by number
	fewer chan struct{}  // closed when one of them is known, or did not start
}

func newStarts() starts { return starts{under: map[uint64]int{}, fewer: make(chan struct{})} }

// starting notes that a process is about to be started for a run. known is to
// be called when it is registered or will not be; again it does nothing.
func (c *chain) starting(depth int) (known func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &c.starts
	s.last++
	number := s.last
	s.under[number] = depth
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if _, there := s.under[number]; there {
			delete(s.under, number)
			close(s.fewer)
			s.fewer = make(chan struct{})
		}
	}
}

// before reports whether one with this number or a smaller one is under way.
func (s *starts) before(number uint64) bool {
	for n := range s.under {
		if n <= number {
			return true
		}
	}
	return false
}

// deepest returns the depth of the deepest one, -1 if there is none.
func (s *starts) deepest() int {
	depth := -1
	for _, d := range s.under {
		depth = max(depth, d)
	}
	return depth
}

// settle waits while a sender may belong to a run that is just being started;
// false when that took too long. It must have Gone false.
func (c *chain) settle(s Sender) bool {
	c.mu.Lock()
	begun := c.starts.last
	c.mu.Unlock()
	var late <-chan time.Time
	for {
		c.mu.Lock()
		settled := c.member(s) != nil || !c.starts.before(begun)
		fewer := c.starts.fewer
		c.mu.Unlock()
		if settled || late == nil && s.Cgroup == "" && (s.Child == nil || !s.Child()) {
			return true
		}
		if late == nil {
			late = time.After(startWait)
		}
		select {
		case <-fewer:
		case <-late:
			return false
		}
	}
}

// lineage makes the process of one run known to the chain, from before its start
// until the run has ended, in whatever order it is told of that.
type lineage struct {
	chain *chain
	depth int
	hook  string

	mu           sync.Mutex // guards what is below
	known, ended func()     // nil = not yet
	over         bool
}

func (l *lineage) starting() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over {
		l.known = l.chain.starting(l.depth)
	}
}

func (l *lineage) started(p Process) {
	ended := l.chain.started(p, l.depth, l.hook)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended = ended; l.known != nil {
		l.known()
	}
	if l.over { // the run was given up
		ended()
	}
}

func (l *lineage) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.known != nil {
		l.known()
	}
	if l.ended != nil {
		l.ended()
	}
}

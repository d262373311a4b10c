package dispatch

import (
	"iter"
	"slices"
	"sync"
	"sync/atomic"
)

// maxAsides is how many goroutines are kept for runs to come.
const maxAsides = 16

// asides run attempts apart from the goroutines that wait for them, which go on without a
// run that hangs. The zero value is ready.
//
// Such a goroutine is switched to and from as package iter does it. One that is started,
// and that wakes the one that waits for it, wakes a thread each time. On a machine with two
// processors that thread runs where the hook's process could: a verdict takes a seventh
// longer. One that is used again has a stack that is large enough.
type asides struct {
	mu     sync.Mutex
	idle   []*aside // the one used last is used next; guarded by mu
	closed bool     // guarded by mu
}

// aside is a goroutine that has one turn after another. It belongs to the goroutine that
// waits for its turn.
type aside struct {
	wait func() (reply, bool)
	stop func()
	run  func(*turn) // of the next turn
	left chan struct{}
}

// reply is what ends the wait for a turn.
type reply struct {
	attempt *attempt
	givenUp bool // the run has not returned
}

// turn is one run of an aside. What ends it first counts.
type turn struct {
	over  atomic.Bool
	own   *attempt // that end was called with; of the run's goroutine
	yield func(reply) bool
}

// end ends the turn with a when its run returns. The run itself calls it.
func (t *turn) end(a *attempt) {
	if t.over.CompareAndSwap(false, true) {
		t.own = a
	}
}

// giveUp ends the turn with a at once. Another goroutine than that of the run calls it. It
// returns when the run has returned.
func (t *turn) giveUp(a *attempt) {
	if t.over.CompareAndSwap(false, true) {
		t.yield(reply{a, true})
	}
}

// do has run take a turn, and returns the attempt that ends it.
func (s *asides) do(run func(*turn)) *attempt {
	w := s.take()
	w.run = run
	r, _ := w.wait()
	if r.givenUp {
		close(w.left)
	} else {
		s.put(w)
	}
	return r.attempt
}

func newAside() *aside {
	w := &aside{left: make(chan struct{})}
	w.wait, w.stop = iter.Pull(w.turns)
	return w
}

// turns is the goroutine of w.
func (w *aside) turns(yield func(reply) bool) {
	for {
		t := &turn{yield: yield}
		w.run(t)
		w.run = nil
		if t.own == nil { // another goroutine has called yield, or is about to
			<-w.left
			return
		}
		if !yield(reply{attempt: t.own}) {
			return
		}
	}
}

func (s *asides) take() *aside {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.idle)
	if n == 0 {
		return newAside()
	}
	w := s.idle[n-1]
	s.idle = slices.Delete(s.idle, n-1, n)
	return w
}

func (s *asides) put(w *aside) {
	s.mu.Lock()
	kept := !s.closed && len(s.idle) < maxAsides
	if kept {
		s.idle = append(s.idle, w)
	}
	s.mu.Unlock()
	if !kept {
		w.stop()
	}
}

// close ends the goroutines that have no turn, and each other one after its turn.
func (s *asides) close() {
	s.mu.Lock()
	idle := s.idle
	s.idle, s.closed = nil, true
	s.mu.Unlock()
	for _, w := range idle {
		w.stop()
	}
}

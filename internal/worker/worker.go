// Package worker keeps the processes of persistent hooks (SPEC 7.4): it starts
// copies of a hook's program, gives each event as one line of JSON, finds out
// which answer belongs to which event, and ends the copies again.
//
// A hook has two lanes, each with copies of its own, so that nobody who is
// waited for stands behind observers. Ask blocks its caller and has a copy to
// itself for one line. Submit returns at once and gives a copy up to InFlight
// lines, in order; Done is called when the line is answered or has failed.
//
// Copies start with the first line that needs one. One that ends by itself
// with nothing to answer is not missed; one that dies, writes what is no
// answer, or misses a deadline is killed with all its processes, and what it
// had not answered is given again once, line by line, so that a line that
// kills its process takes no other along. The clock of a line runs while it is
// the oldest that its copy has not answered: the same time that a process of
// its own would have had. Observers of a hook that only dies fail at once for a
// while (SPEC's back-off) instead of waiting; Ask always tries, because
// somebody waits for it.
//
// Nothing that a program does blocks more than the caller of Ask, and memory is
// bounded. A copy that has nothing to do wakes nobody.
//
// The package knows nothing of hooks' files, verdicts and records.
package worker

import (
	"cmp"
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/proc"
)

const (
	// InFlight is how many lines of observers a copy may have at once.
	InFlight = 64
	// AnswerBytes is how long an answer may be unless its call allows more.
	AnswerBytes = 1 << 20
	// maxUnwritten bounds the lines that wait for a copy to read them.
	maxUnwritten = 1 << 20
	// termAfter and killAfter are what a copy is given to end after its stdin
	// was closed.
	termAfter = time.Second
	killAfter = 5 * time.Second
)

// Key tells hooks and their versions apart: copies are started anew when it
// changes.
type Key struct {
	ID       string
	Digest   string
	Settings int // of the daemon's settings that copies are started with
}

// Hook is what copies are made of.
type Hook struct {
	Name   string // for the log
	Copies int    // of each lane; 0 = 1
	// Spec says what a copy is started as; it is asked at each start, and tells
	// looks of each file before it looks at it.
	Spec func(looks func(path string)) (proc.Spec, error)
}

// Call is one line and what becomes of it. It must not be used twice.
type Call struct {
	ID      string // the event_id that the answer must carry
	Line    []byte // one line of JSON, newline included; not changed
	Timeout time.Duration
	Limit   int // bytes that the answer may have; less than AnswerBytes = that
	Depth   int // of the event, for Options.Joined
	// Done is called once by Submit's goroutines. It must not block.
	Done func(Answer)

	next, prev *Call
	given      bool      // a copy had it that did not answer
	at         time.Time // when a copy got it, then when its clock began to run
	answer     []byte
}

// Answer is what became of a call.
type Answer struct {
	Body     []byte // the object of the answer without event_id; nil = no more in it
	Err      error  // no copy could be started
	Stalled  string // what its start still waited for at its deadline, in words for people; "" = nothing
	Failure  string // there is no answer, in words for people
	Exceeded bool   // it was longer than Limit
	TimedOut bool   // it missed its deadline
	Exit     proc.Exit
	Stderr   proc.Output // what the copy wrote to stderr since its last answer
	PID      int         // of the copy
	Started  time.Time   // when its clock began to run
	Duration time.Duration
}

// Options of a Set. Proc is required.
type Options struct {
	Proc *proc.Runner
	Log  *zap.Logger // nil = none
	// Starting is told before a copy is started; the function it returns is
	// called when Joined has been, or will not be. Nil = nobody is told.
	Starting func() (known func())
	// Joined is told of each copy that starts; depth is that of the deepest
	// event it works on or worked on last. The function it returns is called
	// when the copy has ended. Nil = nobody is told.
	Joined func(id string, p proc.Process, depth func() int) (left func())

	grace time.Duration // that Ask waits past its deadline for what it kills; 0 = 200 ms
}

// Set is all persistent hooks. It is safe for concurrent use.
type Set struct {
	opts Options
	log  *zap.Logger

	mu      sync.RWMutex // guards what is below
	pools   map[Key]*Pool
	current func(Key) bool // nil = every key is
	closed  bool           // nothing is started any more
	alive   sync.WaitGroup // copies that have not ended
}

// New makes a Set without copies.
func New(o Options) *Set {
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.Starting == nil {
		o.Starting = func() func() { return func() {} }
	}
	if o.Joined == nil {
		o.Joined = func(string, proc.Process, func() int) func() { return func() {} }
	}
	o.grace = cmp.Or(o.grace, 200*time.Millisecond)
	return &Set{opts: o, log: o.Log.Named("worker"), pools: map[Key]*Pool{}}
}

// Pool returns the copies of a hook; describe is asked when they are not known
// yet.
func (s *Set) Pool(key Key, describe func() Hook) *Pool {
	s.mu.RLock()
	p := s.pools[key]
	s.mu.RUnlock()
	if p != nil {
		return p
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p = s.pools[key]; p == nil {
		p = newPool(s, key, describe())
		p.retired.Store(s.current != nil && !s.current(key))
		s.pools[key] = p
	}
	return p
}

// Keep says which hooks are in force from now on. Copies of all others end when
// they have answered what they were given and what is still to come for them.
func (s *Set) Keep(current func(Key) bool) {
	s.mu.Lock()
	s.current = current
	var retired []*Pool
	for key, p := range s.pools {
		if was := p.retired.Swap(!current(key)); !was && p.retired.Load() {
			retired = append(retired, p)
		}
	}
	s.mu.Unlock()
	for _, p := range retired {
		p.endIdle()
	}
}

// forget drops a pool of no current hook that has no copies.
func (s *Set) forget(p *Pool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pools[p.key] == p && p.retired.Load() && p.empty() {
		delete(s.pools, p.key)
	}
}

// Close ends all copies: their stdin is closed, and what has not ended after a
// while, or when ctx ends, is killed. It returns when all have ended. What is
// still unanswered fails.
func (s *Set) Close(ctx context.Context) {
	s.Keep(func(Key) bool { return false })
	ended := make(chan struct{})
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	go func() { s.alive.Wait(); close(ended) }()
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	s.Kill()
	select {
	case <-ended:
	case <-time.After(2 * proc.ReapWait): // a process that not even SIGKILL ends
	}
}

// Abort kills the copies that owe an answer and starts no more. What is
// unanswered fails.
func (s *Set) Abort() { s.kill(false) }

// Kill ends all copies at once and starts no more.
func (s *Set) Kill() { s.kill(true) }

func (s *Set) kill(all bool) {
	s.mu.Lock()
	s.closed = true
	var pools []*Pool
	for _, p := range s.pools {
		pools = append(pools, p)
	}
	s.mu.Unlock()
	for _, p := range pools {
		p.kill(all)
	}
}

func (s *Set) isClosed() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.closed
}

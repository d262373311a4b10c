// Package worker runs persistent hooks. A worker is a process that stays: it
// gets each event as one line of JSON and writes one line as the answer, which
// carries the event_id of the event.
//
// Each hook has two pools of workers, so that a run that a sender waits for never
// queues behind observers. Ask blocks its caller and uses a worker for one line
// at a time. Submit returns at once and sends a worker up to InFlight lines, in
// order; Done is called when the line has an answer or has failed.
//
// A worker starts when the first line needs it. It may exit whenever it owes no
// answer. A worker that crashes, writes an invalid answer or misses a deadline is
// killed with all its processes, and the lines that it had not answered are sent
// once more, one at a time, so that a line that crashes its worker fails alone.
// The deadline of a line counts from when it is the oldest that its worker has
// not answered: the same time that a process of its own would have had. While a
// hook keeps crashing, its observers' lines fail at once until the back-off is
// over; Ask always tries, because a sender waits. While the system has no process to
// spare, the lines of observers wait. A hook with one worker at a time gets them in
// the order submitted, also when that worker ends and another one takes its place.
//
// Nothing that a program does blocks anything but the caller of Ask, memory is
// bounded, and an idle worker costs no wake-up.
//
// The package knows nothing of the files of hooks, of verdicts or of history.
package worker

import (
	"cmp"
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/proc"
)

const (
	// InFlight is how many lines of observers a worker may have unanswered.
	InFlight = 64
	// maxUnwritten bounds the bytes that wait to be written to one worker.
	maxUnwritten = 1 << 20
	// A worker whose stdin was closed gets SIGTERM after termAfter and is killed
	// after killAfter.
	termAfter = time.Second
	killAfter = 5 * time.Second
)

// Key identifies one version of a hook. When it changes, new workers are started.
type Key struct {
	ID       string
	Digest   string
	Settings int // the generation of the settings that workers are started with
}

// Startup says how workers are started.
type Startup struct {
	Name    string // for the log
	Workers int    // the most in each pool; 0 = 1
	// Start returns the process to start. It is called for each start, and calls looks with each
	// file before it opens that file.
	Start func(looks func(path string)) (Start, error)
}

// Start is a process to start, of one version of a hook.
type Start struct {
	Spec    proc.Spec
	Version string // digest of that version
	// Confirm is called once: before the first answer of the process is taken, or, where no
	// sender waits for answers, once it has started. An error refuses the process. Nil = it is
	// not called.
	Confirm func() error
	Again   bool // after such an error another process may be started
}

// Request is one line for a worker. It must not be used twice.
type Request struct {
	ID      string // the event_id that the answer must carry
	Line    []byte // one line of JSON, newline included; not changed
	Timeout time.Duration
	Limit   int // the longest answer in bytes; verdict.AnswerBytes if less
	Depth   int // the depth of the event, for Options.Joined
	// Done is called once with the answer to a submitted call. It must not block.
	Done func(Response)

	cancelled bool      // it is to end without an answer; guarded by the pool of observers
	diedOnce  bool      // a worker that had read it ended without an answer
	at        time.Time // when a worker got it; once answered, when its deadline began to count
	answer    []byte
}

// Response is the result of a call.
type Response struct {
	Body     []byte // the answer's object without event_id; nil when that was all it had
	Err      error  // no worker could be started, or it was refused
	Version  string // digest of the version that the worker runs; "" = there was no worker
	Stalled  string // what the start still waited for at the deadline, for people; "" = nothing
	Failure  string // why there is no answer, for people; "" = there is one
	Exceeded bool   // the answer was longer than Limit
	TimedOut bool   // the deadline passed without an answer
	Exit     proc.Exit
	Stderr   proc.Output // what the worker wrote to stderr since its last answer
	PID      int         // of the worker
	Started  time.Time   // when the deadline began to count
	Duration time.Duration
}

// Options of a Set. Proc is required.
type Options struct {
	Proc *proc.Runner
	Log  *zap.Logger // nil = none
	// Starting is called before a worker is started. The function it returns is
	// called after Joined, or when the start has failed. Nil = not called.
	Starting func() (known func())
	// Joined is called with each worker that has started. depth returns the depth
	// of the deepest event that the worker has, or of the last one it had. The
	// function it returns is called when the worker has ended. Nil = not called.
	Joined func(id string, p proc.Process, depth func() int) (left func())

	// Short is called when no process can be started for now: the start is tried again, after a
	// pause that grows from firstPause to mostPause. Nil = not called.
	Short func(error)

	grace time.Duration // how long Ask waits past its deadline for a kill; 0 = 200 ms
}

// Set has the workers of all persistent hooks. It is safe for concurrent use.
type Set struct {
	opts Options
	log  *zap.Logger

	mu      sync.RWMutex // guards what is below
	pools   map[Key]*Pool
	current func(Key) bool // reports whether the key is of a hook in force; nil = all are
	closed  bool           // no more workers are started
	closing chan struct{}  // closed when closed is set
	alive   sync.WaitGroup // workers that have not ended
}

// New returns a Set without workers.
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
	if o.Short == nil {
		o.Short = func(error) {}
	}
	o.grace = cmp.Or(o.grace, 200*time.Millisecond)
	return &Set{opts: o, log: o.Log.Named("worker"), pools: map[Key]*Pool{}, closing: make(chan struct{})}
}

// Pool returns the workers of a hook. describe is called for a new key only.
func (s *Set) Pool(key Key, describe func() Startup) *Pool {
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

// Retain sets which hooks are in force. The workers of all others drain: they end
// when each call that was and will be made to them has its answer.
func (s *Set) Retain(current func(Key) bool) {
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

// removeIfEmpty removes the pool of a hook that is not in force and has no workers.
func (s *Set) removeIfEmpty(p *Pool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pools[p.key] == p && p.retired.Load() && p.empty() {
		delete(s.pools, p.key)
	}
}

// Close drains: it closes the stdin of all workers. It kills the workers that have not
// ended after killAfter, or when ctx ends. It returns when all have ended. Calls
// without an answer fail.
func (s *Set) Close(ctx context.Context) {
	s.Retain(func(Key) bool { return false })
	ended := make(chan struct{})
	s.mu.Lock()
	s.close()
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
	case <-time.After(2 * proc.ReapWait): // stuck in the kernel: not even SIGKILL ends it
	}
}

// Abort kills the workers that owe an answer and starts no more. Their calls
// fail.
func (s *Set) Abort() { s.kill(false) }

// Kill kills all workers and starts no more.
func (s *Set) Kill() { s.kill(true) }

func (s *Set) kill(all bool) {
	s.mu.Lock()
	s.close()
	var pools []*Pool
	for _, p := range s.pools {
		pools = append(pools, p)
	}
	s.mu.Unlock()
	for _, p := range pools {
		p.kill(all)
	}
}

// close has no more workers started. The caller holds mu.
func (s *Set) close() {
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
}

// Pauses between two starts while no process can be started.
const (
	firstPause = 50 * time.Millisecond
	mostPause  = 10 * time.Second
)

// pause waits before start number tries+1; false when no more workers are started.
func (s *Set) pause(tries int) bool {
	return pause.For(pause.About(pause.Doubled(firstPause, mostPause, tries)), s.closing)
}

func (s *Set) isClosed() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.closed
}

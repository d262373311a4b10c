// Package dispatch turns an event into runs and, where the event can be
// decided, into a verdict: it matches the event against the published
// snapshot of hooks, queues and starts the runs, and folds their answers.
//
// Promises. A decidable event that waits never queues behind observers, and
// its answer comes when its budget ends at the latest. Observers of one
// session run in the order accepted, per hook. A failing hook never stops
// another and never reaches the sender except as a verdict by declared
// policy. Every run that was accepted is recorded, also one that never
// started. Whatever hooks do to each other by emitting events ends at depth 8.
//
// What it does not do: start processes (the Runner does), read files, or keep
// history (the Recorder does).
package dispatch

import (
	"cmp"
	"context"
	"encoding/json"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/dialect/familiar"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/verdict"
)

// Runner executes one job. It returns when the job's main process was reaped
// or given up, and kills it when ctx ends.
type Runner interface {
	Run(ctx context.Context, j *Job) Outcome
}

// Recorder learns of every accepted event, before its runs, and of every
// finished run. It must not block: it stands between the hook and the answer.
type Recorder interface {
	Accepted(e *events.Event) (seq uint64)
	Finished(r events.Run)
}

// Job is one execution of one hook for one event.
type Job struct {
	RunID   string
	Hook    *hook.Hook
	Event   *events.Event
	Given   string          // the event name the hook is given
	Payload json.RawMessage // the payload under that name, after earlier rewrites
	Output  string          // what hooks of the conversation that capture it have printed (Familiar)
	Timeout time.Duration   // from the start of the process
	Whole   int             // bytes of stdout that its answer may need; 0 = none
	Started func(Process)   // to be called once, after a successful start
}

// Process identifies what a job started, to find out later who sends an event.
type Process struct {
	PID    int    // also its process group and session
	Cgroup string // "" = none of its own
}

// Outcome is what a job left behind.
type Outcome struct {
	Err      error  // it did not start
	Failure  string // it ran inside the daemon and failed, in words for people
	ExitCode int    // -1 when there is none
	Signal   string
	TimedOut bool
	Killed   string
	Left     int
	Started  time.Time
	Duration time.Duration
	Stdout   events.Output
	Stderr   events.Output
	Whole    []byte // stdout up to Job.Whole
	Exceeded bool   // there was more than Job.Whole
	// Late is nil unless a background child still holds a pipe. It blocks for
	// a moment and returns the output that belongs to the record.
	Late func() (stdout, stderr events.Output)

	limit time.Duration // the deadline it had
}

// Options of a Dispatcher. Runner and Recorder are required.
type Options struct {
	Runner   Runner
	Recorder Recorder
	Log      *zap.Logger // nil = none

	Observers int   // runs of observers at once; 0 = max(8, 2×CPU)
	Decidable int   // runs of decidable events at once; 0 = the same
	MaxEvents int   // events that may wait for their observers; 0 = 10,000
	MaxBytes  int64 // of payload that may wait so; 0 = 64 MiB

	AnswerBytes  int // of stdout that are read for an answer; 0 = 1 MiB
	RewriteBytes int // the same for a rewriting event; 0 = 16 MiB

	GroupAlive func(pgid int) bool // whether a process group has members; nil = never
}

// Dispatcher is safe for concurrent use.
type Dispatcher struct {
	opts     Options
	log      *zap.Logger
	recorder Recorder
	index    atomic.Pointer[index]
	queue    *queue
	permits  permits
	chain    *chain
	seen     *dedup
	outputs  familiar.Outputs
	prompts  *prompts

	accept   sync.RWMutex // read-held while an event is accepted, so that Drain knows the last one
	draining bool         // guarded by accept
	order    sync.Mutex   // makes the order of the queue that of seq
	pending  sync.WaitGroup
	ctx      context.Context // ends when running hooks must die
	kill     context.CancelFunc
}

// New makes a Dispatcher that knows no hooks yet; see Publish.
func New(o Options) *Dispatcher {
	slots := max(8, 2*runtime.NumCPU())
	setDefault(&o.Observers, slots)
	setDefault(&o.Decidable, slots)
	setDefault(&o.MaxEvents, 10_000)
	setDefault(&o.MaxBytes, 64<<20)
	setDefault(&o.AnswerBytes, 1<<20)
	setDefault(&o.RewriteBytes, 16<<20)
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	d := &Dispatcher{
		opts:     o,
		log:      o.Log.Named("dispatch"),
		recorder: o.Recorder,
		permits:  newPermits(o.Decidable),
		chain:    newChain(o.GroupAlive),
		seen:     newDedup(),
		prompts:  newPrompts(),
	}
	d.ctx, d.kill = context.WithCancel(context.Background())
	d.queue = newQueue(o.Observers, o.MaxEvents, o.MaxBytes, d.observe)
	d.Publish(&hook.Snapshot{})
	return d
}

func setDefault[T int | int64](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

// Publish makes snap the hooks of every event accepted from now on. Runs in
// flight and in the queue keep the hook that they were matched with. It
// returns the snapshot that was in force before.
func (d *Dispatcher) Publish(snap *hook.Snapshot) (before *hook.Snapshot) {
	if old := d.index.Swap(newIndex(snap)); old != nil {
		before = old.snapshot
	}
	return before
}

// Receipt is what the sender of an event is told.
type Receipt struct {
	EventID   string
	Seq       uint64
	Matched   []string // hooks that run for it, in registration order
	Warnings  []string
	Duplicate bool
	Verdict   *verdict.Verdict // with wait
	Runs      []events.Run     // with wait: those that were waited for; without their output
}

// Emit accepts one event. Without wait it returns when the runs are queued,
// with wait when they have ended. It never fails because of a hook. A sender
// that leaves cancels nothing.
func (d *Dispatcher) Emit(from Origin, env events.Envelope) (Receipt, *events.Error) {
	return d.emit(from, env, env.ID != "")
}

// EmitOwn accepts an event of the daemon itself, such as gateway:startup.
func (d *Dispatcher) EmitOwn(env events.Envelope) (Receipt, *events.Error) {
	return d.emit(Origin{}, env, false)
}

func (d *Dispatcher) emit(from Origin, env events.Envelope, dedup bool) (Receipt, *events.Error) {
	var seen *entry
	if dedup {
		var first bool
		if seen, first = d.seen.enter(env.Sender, env.ID, time.Now()); !first {
			if rcpt, ok := seen.join(env.Wait); ok {
				return rcpt, nil
			}
			return d.emit(from, env, dedup) // the first was refused, so this one is the first
		}
	}
	rcpt, wait, err := d.admit(from, env)
	if seen != nil {
		d.seen.settle(seen, rcpt, err == nil)
	}
	if err != nil {
		return Receipt{}, err
	}
	if wait != nil {
		wait(&rcpt)
	}
	if seen != nil {
		seen.finish(rcpt)
	}
	return rcpt, nil
}

var errDraining = &events.Error{Code: events.CodeDraining, Message: "hookd is shutting down", Hint: "send it again when `hookd status` answers", RetryAfter: 1}

// admit checks, records and queues an event. wait, when not nil, completes the
// receipt by waiting for the runs that the sender waits for.
func (d *Dispatcher) admit(from Origin, env events.Envelope) (rcpt Receipt, wait func(*Receipt), err *events.Error) {
	d.accept.RLock()
	defer d.accept.RUnlock()
	if d.draining {
		return rcpt, nil, errDraining
	}
	depth, err := d.chain.depth(from, env.Parent, time.Now())
	if err != nil {
		return rcpt, nil, err
	}
	now := time.Now()
	e := &events.Event{Envelope: env, EventID: events.NewID(now), Time: now.UTC(), Depth: depth, Contract: events.For(env.Dialect, env.Event)}
	e.Dialect = cmp.Or(e.Dialect, e.Contract.Dialect)
	e.Warnings = append(env.Warnings, e.Contract.Check(env.Data)...)

	d.prompts.note(e)
	p := newPlan(e, d.index.Load().match(e))
	if n := len(p.queued) + len(p.later); n > 0 && !d.queue.reserve(e, n) {
		if len(p.deciding) == 0 {
			return rcpt, nil, &events.Error{Code: events.CodeQueueFull, Message: "the queue of events that wait for their hooks is full", Hint: "send it again later; `hookd status` shows the queue", RetryAfter: 1}
		}
		d.dropObservers(e, &p)
	}
	tasks, results := p.tasks(e)
	d.pending.Add(len(tasks))
	d.order.Lock()
	e.Seq = d.recorder.Accepted(e)
	d.queue.push(tasks)
	d.order.Unlock()
	if len(p.matched) > 0 {
		d.chain.remember(e)
	}

	rcpt = Receipt{EventID: e.EventID, Seq: e.Seq, Matched: names(p.matched), Warnings: e.Warnings}
	if !e.Wait {
		return rcpt, nil, nil
	}
	d.pending.Add(1)
	return rcpt, func(r *Receipt) {
		defer d.pending.Done()
		if e.Contract.Decidable {
			var done []ran
			r.Verdict, done = d.decide(e, p.deciding)
			r.Runs = runs(done)
			d.startLater(e, p.later, done)
			return
		}
		d.startNested(e, p.nested, results)
		r.Verdict, r.Runs = allowed(), d.await(e, len(p.matched), results)
	}, nil
}

// dropObservers leaves the observers out of a decidable event: a verdict is
// never refused because others queue. The sender is told.
func (d *Dispatcher) dropObservers(e *events.Event, p *plan) {
	for _, m := range append(p.queued, p.later...) {
		e.Warnings = append(e.Warnings, "the queue is full: hook "+m.hook.Name+" does not run for this event")
		d.log.Warn("queue full, observer dropped", zap.String("hook", m.hook.Name), zap.String("event", e.Envelope.Event), zap.String("event_id", e.EventID))
	}
	p.queued, p.later, p.matched = nil, nil, p.deciding
}

// Drain refuses new events, waits for the runs in flight and in the queue,
// and when ctx ends first kills the rest. It returns the number of queued runs
// that were dropped.
func (d *Dispatcher) Drain(ctx context.Context) (dropped int) {
	d.accept.Lock()
	d.draining = true
	d.accept.Unlock()
	idle := make(chan struct{})
	go func() { d.pending.Wait(); close(idle) }()
	select {
	case <-idle:
		d.kill()
		return 0
	case <-ctx.Done():
	}
	left := d.queue.close()
	for _, t := range left {
		d.drop(t)
	}
	d.kill()
	select {
	case <-idle:
	case <-time.After(killGrace): // a process that not even SIGKILL ends
	}
	return len(left)
}

// killGrace is how long Drain waits for killed processes.
const killGrace = 2 * time.Second

// Stats is the load of a Dispatcher at one moment.
type Stats struct {
	Draining       bool
	QueuedRuns     int
	QueuedEvents   int
	QueuedBytes    int64
	RunningObserve int
	RunningDecide  int
}

// Stats reports the load.
func (d *Dispatcher) Stats() Stats {
	d.accept.RLock()
	s := Stats{Draining: d.draining}
	d.accept.RUnlock()
	s.QueuedRuns, s.QueuedEvents, s.QueuedBytes, s.RunningObserve = d.queue.load()
	s.RunningDecide = d.permits.used()
	return s
}

// Origin finds out who a peer is from the ids of its process, right after its
// connection was accepted: sid and pgid of the process, or gone when there is
// no such process any more.
func (d *Dispatcher) Origin(sid, pgid int, cgroup string, gone bool) Origin {
	return d.chain.origin(sid, pgid, cgroup, gone, time.Now())
}

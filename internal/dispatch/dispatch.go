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
	"context"
	"encoding/json"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/match"
)

// Runner executes one job. It returns when the job's main process was reaped
// or given up, and kills it when ctx ends. A file that does not answer can hold
// it for ever: then the Dispatcher goes on without it. Only for a persistent hook
// it always returns right after Job.Timeout or the end of ctx, whatever hangs.
type Runner interface {
	Run(ctx context.Context, j *Job) Outcome
}

// Job is one execution of one hook for one event.
type Job struct {
	RunID   string
	Hook    *hook.Hook
	Event   *events.Event
	Given   string          // the event name the hook is given
	Payload json.RawMessage // the payload under that name, after earlier rewrites
	Data    json.RawMessage // the same as the event was emitted
	Rules   *neutral.Rules  // of the hook
	Place   string          // where the event happened, by the rules of the hook; "" = unknown
	Output  string          // what hooks of the conversation have printed for later ones
	Timeout time.Duration   // from the start of the process
	Latest  time.Time       // what has not started by then does not start, and is killed if it does
	Whole   int             // bytes of stdout that its answer may need; 0 = none
	Awaited bool            // the sender waits for it: it must not stand behind observers

	// Looks is to be called before each file that is looked at for the start,
	// and Inside when the job runs inside the daemon from now on.
	Looks  func(path string)
	Inside func()
	// Starting is to be called once before a process is started for the job, and
	// Started after that when it was; not for a persistent hook, see Joined.
	Starting func()
	Started  func(Process)

	stage   *stage
	started time.Time // when it was given to the Runner
	pid     *atomic.Int64
	ctx     context.Context
	cancel  context.CancelCauseFunc // ends it; nil = it cannot be ended alone
	older   *Job                    // neighbours in the list of those under way; guarded by underWay.mu
	newer   *Job
	settled bool  // it has come back, or was given up; guarded by stalls.mu
	unfit   error // why it cannot be run; nil = it can
}

// Process identifies what a job started, to find out later who sends an event.
type Process struct {
	PID    int    // also its process group and session
	Cgroup string // "" = none of its own
}

// Outcome is what a job left behind.
type Outcome struct {
	Err      error  // it did not start
	Short    bool   // because there was no process, descriptor or memory to spare at that moment
	Failure  string // it ran inside the daemon and failed, in words for people
	Stalled  string // what it still waited for at its deadline, in words for people; "" = nothing
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

// Projects tell in which working tree a directory is.
type Projects interface {
	// Root is the root of the working tree, "" = in none. It returns at once but for
	// a directory that it has not heard of.
	Root(dir string) string
	// See notes that an event came from the directory. It never waits.
	See(dir string)
}

// Options of a Dispatcher. Runner and Recorder are required.
type Options struct {
	Runner   Runner
	Recorder Recorder
	IDs      IDs         // nil = ids of events are forgotten when the process ends
	Tap      Tap         // nil = none
	Log      *zap.Logger // nil = none

	Observers int   // runs of observers at once; 0 = max(8, 2×CPU)
	Decidable int   // runs of decidable events at once; 0 = the same
	MaxEvents int   // events that may wait for their observers; 0 = 10,000
	MaxBytes  int64 // of payload in memory: see QueueShare; 0 = 64 MiB

	AnswerBytes  int // of stdout that are read for an answer; 0 = 1 MiB
	RewriteBytes int // the same for a rewriting event; 0 = 16 MiB

	// Redact takes secrets out of what people are shown of a payload or an answer,
	// which is JSON or text. It returns the same slice when there are none. nil = none.
	Redact   func([]byte) []byte
	Projects Projects // nil = no directory is in one

	GroupAlive func(pgid int) bool // whether a process group has members; nil = never
}

// Dispatcher is safe for concurrent use.
type Dispatcher struct {
	opts     Options
	log      *zap.Logger
	recorder Recorder
	index    atomic.Pointer[match.Index]
	queue    *queue
	permits  permits
	deciding crowd
	chain    *chain
	seen     *dedup
	outputs  outputs
	prompts  *prompts
	stalls   stalls
	underWay underWay

	backlog backlog
	retries retries
	life    life // set before the first event

	accept   sync.RWMutex // read-held while an event is accepted, so that Drain knows the last one
	draining bool         // guarded by accept
	order    sync.Mutex   // makes the order in which events are kept that of their numbers
	pending  sync.WaitGroup
	stopping chan struct{}   // closed when Drain begins
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
	if o.Tap == nil {
		o.Tap = noTap{}
	}
	if o.IDs == nil {
		o.IDs = noIDs{}
	}
	d := &Dispatcher{
		opts:     o,
		log:      o.Log.Named("dispatch"),
		recorder: o.Recorder,
		permits:  newPermits(o.Decidable),
		deciding: crowd{maxBytes: decidingShare(o.MaxBytes)},
		chain:    newChain(o.GroupAlive),
		seen:     newDedup(o.IDs),
		prompts:  newPrompts(),
		backlog:  newBacklog(),
		stopping: make(chan struct{}),
	}
	d.ctx, d.kill = context.WithCancel(context.Background())
	d.queue = newQueue(o.Observers, o.MaxEvents, QueueShare(o.MaxBytes), d.observe)
	if _, ok := o.Runner.(Submitter); ok {
		d.queue.submit = d.submit
	}
	d.retries.again = d.again
	d.Publish(&hook.Snapshot{})
	return d
}

// QueueShare is what events that wait for their observers have of
// Options.MaxBytes: half, so that there is room for those that are decided and
// for the one that is being read.
func QueueShare(maxBytes int64) int64 { return maxBytes / 2 }

// decidingShare is what events that are decided have of it.
func decidingShare(maxBytes int64) int64 { return maxBytes / 8 * 3 }

func setDefault[T int | int64](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

// Publish makes snap the hooks of every event accepted from now on. Runs in
// flight and in the queue keep the hook that they were matched with. It
// returns the snapshot that was in force before.
func (d *Dispatcher) Publish(snap *hook.Snapshot) (before *hook.Snapshot) {
	if old := d.index.Swap(match.New(snap)); old != nil {
		before = old.Snapshot()
	}
	return before
}

// Stats is the load of a Dispatcher at one moment.
type Stats struct {
	Draining       bool
	QueuedRuns     int
	QueuedEvents   int
	QueuedBytes    int64
	RunningObserve int
	RunningDecide  int
	WaitingDecide  int  // runs that senders wait for and that have no slot yet
	Retrying       int  // runs that wait for their next attempt
	Behind         bool // events wait on disk for room in the queue
}

// Stats reports the load.
func (d *Dispatcher) Stats() Stats {
	d.accept.RLock()
	s := Stats{Draining: d.draining}
	d.accept.RUnlock()
	s.QueuedRuns, s.QueuedEvents, s.QueuedBytes, s.RunningObserve = d.queue.load()
	s.RunningDecide, s.WaitingDecide = d.permits.used(), int(d.permits.waiting.Load())
	s.Retrying, s.Behind = d.retries.count()+d.queue.rests(), d.backlog.active()
	return s
}

// Origin finds out who a sender is. It waits, rarely and briefly, while that
// may be a hook whose start is not known yet.
func (d *Dispatcher) Origin(s Sender) Origin { return d.chain.origin(s, time.Now()) }

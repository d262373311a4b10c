// Package dispatch turns an event into runs and, where the event can be
// decided, into a verdict: it matches the event against the published
// snapshot of hooks, queues and starts the runs, and folds their answers.
//
// Promises. A decidable event that waits never queues behind observers, and
// its answer comes when its budget ends at the latest. Observers of one
// session run in the order accepted, per hook. A failing hook never stops
// another and never reaches the sender except as a verdict by declared
// policy. Every run that was accepted is recorded, also a run that never
// started. Whatever hooks do to each other by emitting events ends at depth 8.
//
// It does not start processes (the Runner does), read files, or keep
// history (the Recorder does).
//
// The files, in the order in which an event comes through them; a call goes from
// one to a later one:
//
//	dispatch, drain         the calls of the daemon: make, publish, resume, stop
//	emit, trial             an event comes in; one hook is tried alone
//	dedup                   an event that is sent again
//	accept                  it is checked and given to the disk
//	shadow                  the hooks whose answers do not count
//	decide, crowd           the hooks whose answers make a verdict
//	awaited_slots           the slots of their runs
//	awaited_run             the goroutines that run them
//	plan                    which hooks those are, and which observe
//	backlog, resume         observers that wait on disk, and come back from there
//	pace                    observers that come too often
//	enqueue, persistent     the others get into the queue, and out of the queue
//	run                     one attempt
//	stall, underway, alarms its deadline; all attempts under way
//	answer, outputs         its answer and output
//	retry                   when it is tried again
//	undo                    the parts of a call that can be taken back are kept
//	call_tracker, settle    the record of its call
//	decision_record         the record of its decision
//	decision_order          the order of decisions in a session
//	run_record              the records of its runs
//	queue, strand, task     the observers' queue
//	lineage, chain, starts  which run sends an event
//	project, prompts, calls where an event happens, and which call it belongs to
//	past                    earlier events, for hooks that look back
//	attempt                 the input of one attempt, and how it went
//	question                the question of a verdict to a person
//	box                     which call gets a box
//	job, recorder, tap, ids the parts that others do for this package
package dispatch

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/when"
	"github.com/hookd/hookd/wire"
)

// Options of a Dispatcher. Runner is required.
type Options struct {
	Runner   Runner
	Recorder Recorder    // nil = nothing is recorded
	IDs      IDs         // nil = ids of events are forgotten when the process ends
	Tap      Tap         // nil = none
	Asks     Asks        // nil = each question goes to the agent
	Past     Past        // nil = no hook looks back
	Boxes    Boxes       // nil = there are none, and what hooks contain is asked about
	Keeper   UndoKeeper  // nil = nothing is kept
	Log      *zap.Logger // nil = none

	Observers int   // runs of observers at once; 0 = max(8, 2×CPU)
	Decidable int   // runs of decidable events at once; 0 = the same
	MaxEvents int   // events that may wait for their observers; 0 = 10,000
	MaxBytes  int64 // of payload in memory: see QueueShare; 0 = 64 MiB

	RewriteBytes int // as verdict.AnswerBytes, of an event whose answer rewrites it; 0 = 16 MiB

	// Redact takes secrets out of the parts of a payload or an answer that people are shown:
	// JSON or text. It returns the same slice when there are none. nil = none.
	Redact func([]byte) []byte
	// Suspect gets each guard that seems broken, and why; and with "" as why each guard that ran as it
	// should. tool is that of the call, "" = none. It must not block. nil = nothing gets them.
	Suspect func(h *hook.Hook, tool, why string)
	// Unguarded gets the record of each call of an agent that hookd was not asked about, or whose
	// denial was not obeyed. It must not block, nor change the record. nil = none does.
	Unguarded func(*wire.Decision)

	Fleet    bool       // hooks of scope fleet and every run on other machines, too
	Projects Projects   // nil = no directory is in one
	Links    when.Links // nil = any path may be a link

	GroupAlive func(pgid int) bool // whether a process group has members; nil = never
}

// Dispatcher is safe for concurrent use. It is made of parts: a part calls only later parts of
// this list.
type Dispatcher struct {
	*lifetime
	seen      *dedup
	acceptor  *acceptor
	trials    *trials
	verdicts  *verdicts
	backlog   *backlog
	resumer   *resumer
	observers *observers
	runs      *runs
	tracker   *callTracker
	retries   *retries
	snapshots *snapshots
	chain     *chain
}

// lifetime has the things that all parts share: the settings, and how far the end has come.
type lifetime struct {
	opts     Options
	log      *zap.Logger
	recorder Recorder

	accepting sync.RWMutex // read-held while an event is accepted, so that Drain knows the last one
	draining  bool         // guarded by accepting
	pending   sync.WaitGroup
	ctx       context.Context // ends when running hooks must die
	kill      context.CancelFunc
	stopping  context.Context // ends when Drain begins: then hooks die whose answers count for nothing
	stop      context.CancelFunc
}

// New makes a Dispatcher that knows no hooks yet; see Publish.
func New(o Options) *Dispatcher {
	usual := config.Default("")
	setDefault(&o.Observers, usual.SlotsObservers)
	setDefault(&o.Decidable, usual.SlotsDecidable)
	setDefault(&o.MaxEvents, usual.QueueMaxEvents)
	setDefault(&o.MaxBytes, usual.QueueMaxBytes)
	setDefault(&o.RewriteBytes, 16<<20)
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.Recorder == nil {
		o.Recorder = unrecorded{}
	}
	if o.Tap == nil {
		o.Tap = noTap{}
	}
	o.Tap = quiet{o.Tap}
	if o.Asks == nil {
		o.Asks = noAsks{}
	}
	if o.Past == nil {
		o.Past = noPast{}
	}
	if o.Boxes == nil {
		o.Boxes = noBoxes{}
	}
	if o.IDs == nil {
		o.IDs = noIDs{}
	}
	l := &lifetime{opts: o, log: o.Log.Named("dispatch"), recorder: o.Recorder}
	l.ctx, l.kill = context.WithCancel(context.Background())
	l.stopping, l.stop = context.WithCancel(l.ctx)
	d := assemble(l)
	d.Publish(&hook.Snapshot{})
	return d
}

// assemble makes the parts, from the last one on.
func assemble(l *lifetime) *Dispatcher {
	o, prompts := l.opts, newPrompts()
	chain := newChain(o.GroupAlive)
	snapshots := &snapshots{lifetime: l}
	records := &runRecords{redact: o.Redact, log: l.log}
	retries := &retries{lifetime: l}
	decisions := &decisions{lifetime: l, records: records}
	tracker := &callTracker{lifetime: l, decisions: decisions, records: records, began: time.Now()}
	reader := &reader{lifetime: l, records: records}
	runs := &runs{lifetime: l, reader: reader, records: records, retries: retries, chain: chain, prompts: prompts}
	observers := newObservers(l, runs)
	resumer := &resumer{lifetime: l, observers: observers, records: records, retries: retries, snapshots: snapshots}
	retries.again = resumer.again
	backlog := newBacklog(l, resumer)
	verdicts := &verdicts{
		lifetime: l, runs: runs, tracker: tracker, decisions: decisions, records: records, snapshots: snapshots,
		slots: newAwaitedSlots(o.Decidable), shadows: newAwaitedSlots(o.Decidable),
		deciding: crowd{maxBytes: decidingShare(o.MaxBytes)}, shadowing: crowd{maxBytes: o.MaxBytes / 8},
	}
	return &Dispatcher{
		lifetime: l, seen: newDedup(o.IDs), backlog: backlog, resumer: resumer, verdicts: verdicts,
		observers: observers, runs: runs, tracker: tracker, retries: retries, snapshots: snapshots, chain: chain,
		trials: &trials{
			lifetime: l, verdicts: verdicts, tracker: tracker, records: records, snapshots: snapshots, chain: chain,
		},
		acceptor: &acceptor{
			lifetime: l, verdicts: verdicts, backlog: backlog, observers: observers, runs: runs, tracker: tracker,
			decisions: decisions, snapshots: snapshots, chain: chain, prompts: prompts,
		},
	}
}

// decidingShare is the share of Options.MaxBytes for events that are decided.
func decidingShare(maxBytes int64) int64 { return maxBytes / 8 * 3 }

func setDefault[T int | int64](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

// Publish makes snap the hooks of every event accepted from now on. It returns the snapshot that was in force
// before. Runs in flight and in the queue keep order, deadline and role of the hook that they were matched with; a
// run that starts later executes the newest files of that hook.
func (d *Dispatcher) Publish(snap *hook.Snapshot) (before *hook.Snapshot) {
	return d.snapshots.publish(snap)
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
	d.accepting.RLock()
	s := Stats{Draining: d.draining}
	d.accepting.RUnlock()
	s.QueuedRuns, s.QueuedEvents, s.QueuedBytes, s.RunningObserve = d.observers.queue.load()
	s.RunningDecide, s.WaitingDecide = d.verdicts.slots.used(), int(d.verdicts.slots.waiting.Load())
	s.Retrying, s.Behind = d.retries.count()+d.observers.queue.rests(), d.backlog.active()
	return s
}

// Origin finds out who a sender is. It waits, rarely and briefly, while that
// may be a hook whose start is not known yet.
func (d *Dispatcher) Origin(s Sender) Origin { return d.chain.origin(s, time.Now()) }

// About fills in an event's subject, where it has one: its canonical tool, one line
// without secrets, and the id of the call.
func (d *Dispatcher) About(e *events.Event) { d.tracker.about(e) }

// Oldest returns when the oldest event was accepted whose runs in the
// observers' queue have not all ended; zero when there is none. It looks at
// every event in memory: it is for a scrape, not for each event.
func (d *Dispatcher) Oldest() time.Time { return d.observers.queue.oldest() }

// Resume takes up the events that earlier processes of hookd accepted: events with numbers
// below first. Runs that are older than maxAge become dead letters; a hook that
// is gone is recorded as dropped. An event with an id waits until the ids of their events are
// known again. Call it once, before the first event.
func (d *Dispatcher) Resume(first uint64, maxAge time.Duration) {
	d.resumer.earlier = earlier{first: first, maxAge: maxAge}
	d.seen.known = make(chan struct{})
	go d.loadIDs()
	d.backlog.mu.Lock()
	defer d.backlog.mu.Unlock()
	if !d.backlog.on {
		d.backlog.on, d.backlog.kept = true, first-1
		go d.backlog.refill()
	}
}

// Package store keeps on disk the events that hookd accepted and the runs that it made. It has one
// SQLite file, and a journal of accepted events in front.
//
// Promises. An Accept that returned nil is found by the next Open, whatever
// happened to the process in between (DurableFsync: also to the machine). Its
// rows come back from Pending in the order of their numbers until Done, GiveUp
// or Forget ends them: at least once, never silently dropped. Few calls wait for
// the disk, and say so. Accept tells later. Note, Record, Started, Done, Retry, GiveUp and the manifests are
// written in the order called: after 25 ms, or once they fill a commit; on a busy daemon, and of Note, after
// 250 ms at most.
// A loss of power may take back records written so in the 250 ms before it. A decision
// outlives a kill of the process from when Decided has returned, see Options.Memory.
// Readers never wait for the writer, and find accepted events once FlushEvents has returned.
//
// Failure. While the disk is full, broken or read-only, Accept fails at once
// with ErrFull, ErrIO or ErrReadOnly, everything else goes on in memory within
// a bound, and the store tries again each second until it heals. While the disk hangs, Accept fails with
// ErrIO once 128 MiB of events wait for it. A database that turns out corrupt is moved aside; a deleted
// one is noticed at the next commit. Either way the store begins a new file, and writes everything pending
// in memory to it before anything else. It tells Options.Incident the losses. A read that fails is tried again;
// then events are refused as on a full disk, for a minute; then the file is set aside. A part of
// the journal that was deleted or is damaged is told too. The events pending beside it stay. A
// journal beside a new database belongs to it. A file of a newer hookd is refused by Open. Losses
// and files set aside are in Losses until ForgetLoss.
//
// The store does not number events and runs: it only keeps numbers from coming back, see FirstSeq.
// It does not decide about retries, run anything, or log.
package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/journal"
)

// Durability names the failure that an accepted event survives.
type Durability string

const (
	DurableFsync Durability = "fsync" // a loss of power
	DurableOS    Durability = "os"    // a crash of hookd, not one of the machine
)

// Options of a Store. Only Path is required.
type Options struct {
	Path    string     // of the database; its directory is made 0700, the file 0600
	Durable Durability // "" = DurableFsync
	Limits  Limits
	Held    int64 // bytes of pending events that are in memory as well; 0 = 16 MiB

	// Memory is a folder in memory, see MemoryDir, in which decisions outlive a kill of the
	// process until the database has them; "" = they are lost with it.
	Memory string

	// Incident is told when the store breaks, heals, or had to begin a new
	// file. nil = not told. It is called from Open or from the store's own
	// goroutine: it must not block and must not call the Store.
	Incident func(Incident)

	// Waiting is told how many pending events are in memory, whenever that has changed by some
	// thousands; most of those that wait in the database are not. nil = not told. It must not block
	// and must not call the Store.
	Waiting func(events int)

	// About fills in the tool, the subject and the call of an event that is Unread. nil = they are
	// not kept.
	About func(e *events.Event)

	probe    time.Duration // between attempts to heal; 0 = 1 s
	delay    time.Duration // that a record waits for company, ten times that when there are many; 0 = 25 ms
	sweep    time.Duration // between prunings while there is something new; 0 = 1 min, < 0 = never
	patience time.Duration // for the lock of the database; 0 = lockPatience
	unread   time.Duration // until a file that cannot be read is set aside; 0 = 1 min
	files    journal.Files // of the journal; nil = those of the operating system

	synced func() // called when a loss of power takes back nothing of the database; nil = not
}

// Limits has the settings that may change while the store is open; see Configure.
type Limits struct {
	Payload    Payload       // kept of an event once it is no longer pending; "" = PayloadPreview
	MaxAge     time.Duration // of history; 0 = 30 days
	MaxBytes   int64         // of the database; 0 = 1 GiB
	MaxRuns    int64         // kept, and as many events; 0 = 1,000,000
	QueueBytes int64         // of pending payload on disk; 0 = 1 GiB

	// Redact returns text without secrets, the same slice when there are
	// none. The store applies it to the payloads and output that history keeps, never
	// to the input of a pending hook. nil = nothing is hidden.
	Redact func([]byte) []byte
}

// Payload says how much of an event's data history keeps.
type Payload string

const (
	PayloadNone    Payload = "none"
	PayloadPreview Payload = "preview" // the first 2 KiB; all up to 16 KiB of an event that is decided
	PayloadFull    Payload = "full"    // all, which replay needs
)

// Store is safe for concurrent use. It is made of parts: a part calls only later parts of this list.
type Store struct {
	*writeLoop
	*maintenance
	*healer
	*opener
	*transactions
	*pendings
	*aside
	*mover
	*merging
	*acceptor
	*appender
	*asks
	*decisions
	*archive
	*deadLetters
	*forwarding
	*outbox
	*sentIDs
	*pendingRuns
	*tables
	*lossNotes
	*auditing
	*manifestTable
	*core

	firstSeq uint64
	close    sync.Once
}

// core has the things that all parts share.
type core struct {
	opts      Options
	limits    atomic.Pointer[Limits]
	queue     *queue
	pending   *pendingMemory
	journaled *journaled
	losses    losses
	counts    counters
	pruned    atomic.Uint64 // as state.pruned
	crashPage atomic.Pointer[crashPage]
	down      atomic.Pointer[outage] // nil while the disk does what it should
	replacing atomic.Bool            // the database is examined or replaced: nothing is read from it
	suspect   chan error             // a reader found the database corrupt
	checked   chan struct{}          // closed when the pending runs that Open has found are known to be whole
	ended     chan struct{}          // closed when the goroutines are to end
	working   sync.WaitGroup
	accepts   sync.WaitGroup
	closeErr  error

	handles sync.RWMutex // read-held while db is read from, held while it is replaced
	db      *database    // nil until the file could be opened

	w writer // of the goroutine write alone, once Open has returned
}

// Open opens or makes the database at Options.Path. It fails only where
// trying again cannot help: with ErrNewer, ErrForeign, ErrLocked or a bad option. A path
// that cannot be written yields a Store that is down (see Health) and heals
// without help.
func Open(o Options) (*Store, error) {
	switch {
	case o.Path == "":
		return nil, errors.New("open store: no path")
	case o.Durable == "":
		o.Durable = DurableFsync
	case o.Durable != DurableFsync && o.Durable != DurableOS:
		return nil, fmt.Errorf("open store: durable is %q, want %q or %q", o.Durable, DurableFsync, DurableOS)
	}
	setDefault(&o.Held, 16<<20)
	setDefault(&o.probe, time.Second)
	setDefault(&o.delay, 25*time.Millisecond)
	setDefault(&o.patience, lockPatience)
	setDefault(&o.unread, time.Minute)
	if o.sweep == 0 {
		o.sweep = time.Minute
	}
	s := assemble(&core{
		opts: o, queue: newQueue(o.delay), pending: newPendingMemory(o.Held), journaled: &journaled{},
		suspect: make(chan error, 1), checked: make(chan struct{}), ended: make(chan struct{}),
	})
	s.w.spans, s.w.attempts = newSpanCache(), newAttempts()
	s.w.sessions, s.w.ending, s.w.givenUp = newSessionCache(), ending{}, map[uint64]bool{}
	s.w.caches = []cache{s.w.spans, s.w.sessions, s.w.attempts, &s.w.audit, &s.w.texts}
	s.crashPage.Store(&crashPage{})
	s.Configure(o.Limits)
	s.w.opening = true
	if err := s.start(); err != nil {
		return nil, err
	}
	if s.w.opening = false; !s.w.unchecked {
		close(s.checked)
	}
	if err := s.openUnwritten(); err != nil {
		s.report(Incident{Kind: IncidentMemory, Err: err, Path: o.Memory})
	}
	s.firstSeq = s.w.seen + 1
	s.tellWaiting()
	s.accepts.Add(1)
	s.working.Add(2)
	if only, _, _ := s.journaled.load(); only > 0 {
		nudge(s.queue.urgent) // there is something to be moved
	}
	go s.journalAccepts()
	go s.write()
	go s.maintain()
	return s, nil
}

// assemble makes the parts, from the last one on.
func assemble(c *core) *Store {
	manifests, auditing := &manifestTable{core: c, manifests: newManifests()}, &auditing{core: c}
	loss, tables := &lossNotes{core: c, auditing: auditing}, &tables{core: c}
	runs, sent := &pendingRuns{core: c, tables: tables}, &sentIDs{core: c}
	decisions, dead := &decisions{core: c, auditing: auditing, tables: tables, loss: loss}, &deadLetters{core: c}
	forwarding := &forwarding{core: c, memory: &decisions.unwritten}
	appender := &appender{
		core: c, arrivals: newArrivals(), distrusted: make(chan error, 1), relief: make(chan struct{}, 1),
	}
	merging := &merging{core: c, full: make(chan struct{}, 1), grown: make(chan struct{}, 1)}
	mover := &mover{core: c, tables: tables, loss: loss}
	pendings := &pendings{core: c, runs: runs, loss: loss}
	transactions := &transactions{core: c, mover: mover, merging: merging, tables: tables}
	opener := &opener{
		core: c, transactions: transactions, mover: mover, merging: merging, forwarding: forwarding, sent: sent,
		tables: tables, loss: loss, manifest: manifests,
	}
	healer := &healer{
		core: c, opener: opener, transactions: transactions, pendings: pendings, mover: mover, tables: tables,
		loss: loss,
	}
	return &Store{
		writeLoop: &writeLoop{core: c, healer: healer, opener: opener, mover: mover, merging: merging,
			appender: appender, decisions: decisions},
		maintenance: &maintenance{core: c, mover: mover, merging: merging, tables: tables, forwarding: forwarding,
			dead: dead, auditing: auditing, narrowed: make(chan struct{}, 1)},
		healer: healer, opener: opener, transactions: transactions, pendings: pendings, aside: &aside{c, mover},
		mover: mover, merging: merging, acceptor: &acceptor{c, appender, tables, sent}, appender: appender,
		asks: &asks{c, decisions}, decisions: decisions, archive: &archive{c}, deadLetters: dead,
		forwarding: forwarding, outbox: &outbox{c}, sentIDs: sent, pendingRuns: runs, tables: tables, lossNotes: loss,
		auditing: auditing, manifestTable: manifests, core: c,
	}
}

func setDefault[T int | int64 | time.Duration](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

// start opens the database, or begins a new one in place of a corrupt one.
// When the disk does not let it, numbering begins at a number that no earlier
// process can have reached.
func (s *Store) start() error {
	err := s.reopen()
	for range rereads { // a disk that fails once
		if !errors.Is(err, ErrIO) {
			break
		}
		time.Sleep(rereadAfter)
		err = s.reopen()
	}
	if errors.Is(err, errCorrupt) {
		s.w.found = state{}
		s.fallBack()
		err = s.replace(IncidentCorrupt, err)
	}
	if errors.Is(err, ErrNewer) || errors.Is(err, ErrForeign) || errors.Is(err, ErrLocked) {
		s.unlock()
		return err
	}
	if err != nil {
		s.fallBack()
		s.fail(err)
	}
	return nil
}

// How often, and how long after, Open tries again a read that the disk has failed.
const (
	rereads     = 3
	rereadAfter = 20 * time.Millisecond
)

// FirstSeq is the first number that this opening of the database may give to an
// event or a run: greater than every one before it. The caller numbers both
// from one sequence, and the store makes sure that no number comes back,
// provided that all of them pass through it.
func (s *Store) FirstSeq() uint64 { return s.firstSeq }

// Epoch names the sequence of numbers. It stays the same across restarts as
// long as the database does.
func (s *core) Epoch() string { return *s.counts.epoch.Load() }

// Configure puts limits in force for everything that comes after. The store prunes at once
// the history that the limits no longer allow.
func (s *Store) Configure(p Limits) {
	if p.Payload == "" {
		p.Payload = PayloadPreview
	}
	setDefault(&p.MaxAge, 30*24*time.Hour)
	setDefault(&p.MaxBytes, 1<<30)
	setDefault(&p.MaxRuns, 1_000_000)
	setDefault(&p.QueueBytes, 1<<30)
	if p.Redact == nil {
		p.Redact = func(text []byte) []byte { return text }
	}
	if s.limits.Swap(&p) != nil {
		nudge(s.narrowed)
	}
}

// Flush returns when everything handed over before is on disk, or with the
// reason why it is not.
func (s *core) Flush(ctx context.Context) error {
	for target, _ := s.queue.progress(); ; {
		_, gone := s.queue.progress() // before: what is taken later may still be under way when do returns
		if err := s.wait(ctx, &op{exec: nothing, all: true}); err != nil {
			return err
		}
		if gone >= target {
			return nil
		}
	}
}

// Close writes the remaining records and closes the database. Calls that come later
// fail with ErrClosed or do nothing, and numbers should no longer be given.
func (s *Store) Close() error {
	s.close.Do(func() {
		s.arrivals.close()
		s.accepts.Wait()
		s.queue.close()
		close(s.ended)
		s.working.Wait()
	})
	return s.closeErr
}

// Health is the state of a Store at one moment.
type Health struct {
	Err   error     // why accepting fails; nil = it does not
	Since time.Time // when that began
	Epoch string

	PendingEvents int
	InMemory      int // of them
	PendingRuns   int
	PendingBytes  int64 // of payload
	DeadLetters   int64
	Runs, Events  int64  // kept
	Bytes         int64  // of the database, without its log
	Journaled     int    // events that the journal has and the database has not yet
	JournalBytes  int64  // of the journal on disk
	Backlog       int    // records that wait to be written
	Dropped       uint64 // records lost: there was no room for them, or they made no sense
	Lost          int64  // accepted runs or events that were lost since the store was opened
	Losses        int    // of which no person has taken back the parts that can be
	Audited       uint64 // number of the newest record in the audit chain; 0 = it has none
}

// Health reports the state. It never waits.
func (s *Store) Health() Health {
	h := Health{
		Epoch: s.Epoch(), DeadLetters: s.counts.dead.Load(), Runs: s.counts.runs.Load(), Events: s.counts.events.Load(),
		Bytes: s.counts.bytes.Load(), Audited: s.counts.audited.Load(),
	}
	if o := s.down.Load(); o != nil {
		h.Err, h.Since = o.err, o.since
	}
	h.PendingEvents, h.PendingRuns, h.PendingBytes = s.pending.load()
	h.InMemory = s.pending.inMemory()
	h.Backlog, h.Dropped = s.queue.load()
	h.Lost, h.Losses = s.losses.load()
	h.Journaled, h.JournalBytes, _ = s.journaled.load()
	h.Events += int64(h.Journaled)
	return h
}

// counters mirror the counts of the writer, for other goroutines.
type counters struct {
	epoch                     atomic.Pointer[string]
	runs, events, dead, bytes atomic.Int64
	audited                   atomic.Uint64
}

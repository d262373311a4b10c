// Package fleet connects a machine with others: it sends events to hooks on other
// machines, takes events for its own, publishes the decisions made here, which sessions and
// asks there are and the state of the machine, and reads the same of all machines.
//
// Promises. Nothing local waits for the fleet: a message to others is in the store first, and
// leaves when the servers take it, in order within a session, under the same id on each
// try. An incoming message is acknowledged only when the store has accepted it: at least once.
// A message that comes twice is counted. A message counts as the machine's under whose name it
// stands, for the servers let each machine publish under its own. A message that says anything
// else, or cannot be read, is refused and logged, and holds nothing up. An answer to an ask
// counts only with the signature of an approver, for that ask of this machine, in time.
//
// It starts no hook and decides nothing: it gives events to Options.Accept and answers to
// Options.Answer. The servers are a Broker's business.
package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/wire"
)

// Outbox retains messages until the servers have them.
type Outbox interface {
	PutOutgoing(ctx context.Context, m store.Outgoing) error
	Outgoing(ctx context.Context, subjects []string, others bool, limit int, bytes int64) ([]store.Outgoing, error)
	SentOutgoing(ctx context.Context, numbers []uint64) error
	RefuseOutgoing(ctx context.Context, n uint64, why string) error
	OutboxLoad(ctx context.Context) (store.OutboxLoad, error)
}

// Options of a Fleet. Broker, Names, Outbox, Position and Accept are required.
type Options struct {
	Broker   engine.Broker
	Names    Names
	Outbox   Outbox
	Position Position
	// Accept takes an event of another machine, as the socket does. It returns when the
	// event is on disk.
	Accept func(env events.Envelope) (duplicate bool, err *wire.Error)
	// Decisions are published; nil = they are not.
	Decisions Decisions
	Machine   Machine // what others read of this machine; nil = nothing
	Asked     Asked   // what answers of other machines are for; nil = none counts
	// Directives are given the newest directive; nil = it is not looked for.
	Directives Directives
	Log        *zap.Logger // nil = none

	look time.Duration // how often the state of this machine is looked at; 0 = sessionsEvery
}

// Fleet is one machine of a fleet. It is safe for concurrent use.
type Fleet struct {
	*outbound
	in      *inbound
	twin    *twin
	opts    Options
	arrived chan struct{} // other machines have sent events for each machine
	replied chan struct{} // another machine has sent an answer to this one, or it holds its first ask
	decided chan struct{} // there are new decisions
	news    chan struct{} // there is something new to publish of this machine
	// directed has a token when there may be a newer directive.
	directed chan struct{}
	begun    chan struct{} // closed when the streams were there once
	held     atomic.Int64  // asks that this machine holds

	mu        sync.Mutex // guards what is below
	consumers map[string]context.CancelFunc
	run       context.Context // of Run; nil = it has not begun, or has ended
	working   sync.WaitGroup
	wanted    map[string]func(context.Context)
	ready     bool   // the streams are there
	trouble   string // why not; "" = nothing went wrong
	refused   string // why the newest directive is not in force; "" = it is, or there is none
}

// counts are since the start.
type counts struct{ sent, taken, doubles, again, skipped, refused atomic.Uint64 }

// New makes a Fleet. Run begins.
func New(o Options) *Fleet {
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.look == 0 {
		o.look = sessionsEvery
	}
	begun, log, count := make(chan struct{}), o.Log.Named("fleet"), &counts{}
	f := &Fleet{
		opts: o,
		outbound: &outbound{
			broker: o.Broker, outbox: o.Outbox, names: o.Names, log: log, count: count,
			work: make(chan struct{}, 1), every: make(chan struct{}, 1),
		},
		decided: make(chan struct{}, 1), arrived: make(chan struct{}, 1), replied: make(chan struct{}, 1),
		news: make(chan struct{}, 1), directed: make(chan struct{}, 1),
		begun:     begun,
		consumers: map[string]context.CancelFunc{}, wanted: map[string]func(context.Context){},
	}
	f.twin = &twin{broker: o.Broker, names: o.Names, log: log}
	f.in = &inbound{
		broker: o.Broker, position: o.Position, names: o.Names, log: log, begun: begun, online: f.online,
		trouble: map[string]string{},
	}
	return f
}

// Run works until ctx ends.
func (f *Fleet) Run(ctx context.Context) {
	var loops sync.WaitGroup
	loops.Go(func() { f.prepare(ctx) })
	loops.Go(func() { f.sendWork(ctx) })
	loops.Go(func() { f.sendEvery(ctx) })
	loops.Go(func() { f.publishDecisions(ctx) })
	loops.Go(func() { f.publishState(ctx) })
	loops.Go(func() { f.publishAsks(ctx) })
	if f.opts.Asked != nil {
		loops.Go(func() { f.followAnswers(ctx) })
	}
	if f.opts.Directives != nil {
		loops.Go(func() { f.followDirectives(ctx) })
		loops.Go(func() { _ = f.opts.Broker.Listen(ctx, f.names.news(), f.LookForDirective) }) // the same
	}
	f.mu.Lock()
	f.run = ctx
	f.reconcile()
	f.mu.Unlock()
	<-ctx.Done()
	f.mu.Lock()
	f.run = nil
	f.mu.Unlock()
	loops.Wait()
	f.working.Wait()
}

// How long failed work is left alone: the time doubles, and up to half the time is at
// random.
const (
	firstPause = time.Second
	mostPause  = time.Minute
)

// backOff waits before try number tries+1. It returns before that when wake has a token
// or ctx ends, then false.
func backOff(ctx context.Context, tries int, wake <-chan struct{}) bool {
	return wait(ctx, pause.Within(pause.Doubled(firstPause, mostPause, tries)), wake)
}

// prepare makes the streams, and looks for them again each time the servers answer again.
func (f *Fleet) prepare(ctx context.Context) {
	begin := sync.OnceFunc(func() { close(f.begun) })
	for tries := 0; ; tries++ {
		err := engine.ErrAway
		if f.opts.Broker.State().Connected {
			err = f.opts.Broker.Prepare(ctx, f.names.Layout())
		}
		f.mu.Lock()
		was := f.trouble
		f.ready, f.trouble = !errors.Is(err, engine.ErrAway), "" // a stream that is missing stops itself alone
		if err != nil && !errors.Is(err, engine.ErrAway) {
			f.trouble = err.Error()
		}
		said := f.trouble != "" && f.trouble != was
		f.mu.Unlock()
		if said && ctx.Err() == nil {
			f.log.Warn("the streams of the fleet cannot be made", zap.Error(err),
				zap.String("type", "hookd fleet init with a key that may make them"))
		}
		if !errors.Is(err, engine.ErrAway) {
			begin()
			f.nudge()
		}
		if err == nil {
			select {
			case <-f.opts.Broker.Changed():
				tries = -1
				continue
			case <-ctx.Done():
				return
			}
		}
		if !backOff(ctx, tries, f.opts.Broker.Changed()) {
			return
		}
	}
}

// nudge wakes the goroutines that look for waiting work.
func (f *Fleet) nudge() {
	wake(f.work)
	wake(f.every)
	wake(f.arrived)
	wake(f.replied)
	wake(f.decided)
	wake(f.directed)
	wake(f.news)
}

// Changed has the state of this machine published soon. It does not block.
func (f *Fleet) Changed() { wake(f.news) }

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Retain sets which hooks are in force: events come for those of scope fleet and every.
func (f *Fleet) Retain(hooks []*hook.Hook) {
	wanted := map[string]func(context.Context){}
	for _, h := range hooks {
		switch h.Scope {
		case hook.ScopeFleet:
			wanted[workConsumer+token(h.Name)] = f.consumer(f.names.work(h.Name), f.takeWork)
			wanted[deadConsumer] = f.consumer(f.names.deadLetters(), f.copyDead)
		case hook.ScopeEvery:
			wanted[areaEvery] = f.followEvents
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wanted = wanted
	f.reconcile()
}

// reconcile ends what takes messages that are not wanted any more, and begins the rest. f.mu is
// held.
func (f *Fleet) reconcile() {
	if f.run == nil {
		return
	}
	for key, end := range f.consumers {
		if f.wanted[key] == nil {
			end()
			delete(f.consumers, key)
		}
	}
	for key, take := range f.wanted {
		if f.consumers[key] != nil {
			continue
		}
		ctx, cancel := context.WithCancel(f.run)
		f.consumers[key] = cancel
		f.working.Go(func() { take(ctx) })
	}
}

// consumer returns a function that takes messages of a consumer until ctx ends, from when there
// are streams.
func (f *Fleet) consumer(spec engine.Spec, handle func(context.Context, engine.Delivery)) func(context.Context) {
	return func(ctx context.Context) {
		select {
		case <-f.begun:
			_ = f.opts.Broker.Consume(ctx, spec, handle) // it ends with ctx
		case <-ctx.Done():
		}
	}
}

// Status is how the machine is in the fleet.
type Status struct {
	Machine, Tenant string
	State           engine.State
	Trouble         string // why the streams are not there, or cannot be read; "" = it is not known
	Directive       string // why the newest directive is not in force; "" = it is, or there is none
	Outbox          store.OutboxLoad
	Decisions       int       // that are not published yet
	Unpublished     time.Time // when the oldest of them was made; zero = there is none

	// since the start
	Sent    uint64 // events that the servers have
	Taken   uint64 // events of the fleet that were accepted here
	Doubles uint64 // of those that came: accepted before
	Again   uint64 // of those that came: not for the first time
	Skipped uint64 // of those that came: no hook here is for them
	Refused uint64 // messages that could not be read, or named another machine than their subject
}

// Name is this machine's.
func (f *Fleet) Name() string { return f.names.Machine }

// Status returns the state. It fails where the store cannot be read.
func (f *Fleet) Status(ctx context.Context) (s Status, err error) {
	s = Status{
		Machine: f.names.Machine, Tenant: f.names.Tenant, State: f.opts.Broker.State(),
		Sent: f.count.sent.Load(), Taken: f.count.taken.Load(), Doubles: f.count.doubles.Load(),
		Again: f.count.again.Load(), Skipped: f.count.skipped.Load(), Refused: f.count.refused.Load(),
	}
	f.mu.Lock()
	s.Trouble, s.Directive = cmp.Or(f.trouble, f.in.why()), f.refused
	f.mu.Unlock()
	if s.State.Connected { // else a server's refusal of the key would not be seen
		s.Trouble = cmp.Or(s.Trouble, f.twin.why(), f.waits.why())
	}
	if s.Outbox, err = f.opts.Outbox.OutboxLoad(ctx); err == nil && f.opts.Decisions != nil {
		s.Decisions, s.Unpublished, err = f.opts.Decisions.Waiting(ctx)
	}
	return s, err
}

// Oldest returns when the oldest message that is not sent or published was made; zero = there is none.
func (s Status) Oldest() time.Time {
	if s.Outbox.Oldest.IsZero() || !s.Unpublished.IsZero() && s.Unpublished.Before(s.Outbox.Oldest) {
		return s.Unpublished
	}
	return s.Outbox.Oldest
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return []byte("{}") // of our own types: it cannot fail
	}
	return text
}

// Package forward hands decisions on to other machines and files, as the setting forward
// says: to an OpenTelemetry collector, to a webhook, or to a file of lines of JSON.
//
// It promises: every decision in the history is handed on to each target at least once, in
// the order of the numbers, so in order within a session; across restarts a target goes on
// behind the last decision that it has acknowledged. Decisions that were pruned before are counted,
// and the target gets how many. A target that fails or hangs holds up no other one, and no
// verdict: each has a goroutine of its own that reads the history. After a failure it backs
// off, up to a minute. An answer never makes it give a decision up.
//
// It does not redact: it hands on the decisions as the history holds them.
package forward

import (
	"cmp"
	"context"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/wire"
)

// Log is the history of decisions, with the place of each target in it.
type Log interface {
	// Ahead returns the first decisions behind the place of a target.
	Ahead(ctx context.Context, target string, limit int) (store.Ahead, error)
}

// Places moves and reads the places of targets; a *store.Store.
type Places interface {
	Targets(names []string)
	Forwarded(target string, through uint64, told int64)
	Place(ctx context.Context, target string) (store.ForwardState, error)
}

// Options of a Forwarder. Log and Places are required.
type Options struct {
	Log     Log
	Places  Places
	Version string      // of hookd
	Logger  *zap.Logger // nil = none

	gather  time.Duration // decisions wait for company; 0 = 200 ms
	backoff time.Duration // after the first failure; 0 = 1 s
	attempt time.Duration // for one batch; 0 = 15 s
}

// maxBackoff is between two attempts at most, unless the target asks for more.
const maxBackoff = time.Minute

// Forwarder is safe for concurrent use. Make one with New.
type Forwarder struct {
	o       Options
	from    sender
	nudges  atomic.Pointer[[]chan struct{}] // of the workers
	running sync.WaitGroup

	mu      sync.Mutex
	ctx     context.Context // of Run; nil = it was not called yet
	targets []config.Forward
	workers []*worker
}

// sender tells a target where decisions are from.
type sender struct{ host, version string }

// New returns a Forwarder without targets.
func New(o Options) *Forwarder {
	o.gather = cmp.Or(o.gather, 200*time.Millisecond)
	o.backoff = cmp.Or(o.backoff, time.Second)
	o.attempt = cmp.Or(o.attempt, 15*time.Second)
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return &Forwarder{o: o, from: sender{host, o.Version}}
}

// Configure puts a list of targets in force. A target is known by its name: a target that is
// there before and after goes on where it is, a new one begins with the next decision.
func (f *Forwarder) Configure(targets []config.Forward) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if reflect.DeepEqual(f.targets, targets) {
		return
	}
	f.targets = targets
	names := make([]string, len(targets))
	for i, t := range targets {
		names[i] = t.Name
	}
	f.o.Places.Targets(names)
	if f.ctx != nil {
		f.start()
	}
}

// Run hands decisions on until ctx ends. It then returns when the attempts under way have
// ended: an attempt that hangs in a file system never does.
func (f *Forwarder) Run(ctx context.Context) error {
	f.mu.Lock()
	f.ctx = ctx
	f.start()
	f.mu.Unlock()
	<-ctx.Done()
	f.mu.Lock()
	f.ctx = nil
	f.mu.Unlock()
	f.running.Wait()
	return nil
}

// start makes the workers those of the targets; the caller holds the lock. One whose target
// has not changed stays, one of the same name is waited for by the new one.
func (f *Forwarder) start() {
	old := map[string]*worker{}
	for _, w := range f.workers {
		old[w.target.Name] = w
	}
	f.workers = nil
	var nudges []chan struct{}
	for _, t := range f.targets {
		w := old[t.Name]
		if w == nil || !reflect.DeepEqual(w.target, t) {
			w = newWorker(f, t, w)
			f.running.Go(w.run)
		} else {
			delete(old, t.Name)
		}
		f.workers = append(f.workers, w)
		nudges = append(nudges, w.nudge)
	}
	for _, w := range old {
		w.stop()
	}
	f.nudges.Store(&nudges)
}

// Nudge says that there is a new decision. It does not block.
func (f *Forwarder) Nudge() {
	if list := f.nudges.Load(); list != nil {
		for _, c := range *list {
			nudge(c)
		}
	}
}

func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // one is due already
	}
}

// Drain returns when all that was decided before is handed on or has failed once more, or
// when ctx ends.
func (f *Forwarder) Drain(ctx context.Context) {
	for _, w := range f.all() {
		w.drain(ctx)
	}
}

func (f *Forwarder) all() []*worker {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.workers
}

// Status returns the state of each target, in the order of the settings.
func (f *Forwarder) Status(ctx context.Context) (list []wire.Forward) {
	for _, w := range f.all() {
		s := w.status()
		place, err := f.o.Places.Place(ctx, s.Name)
		if err != nil {
			s.Unread = err.Error()
		}
		s.Waiting, s.Missed = place.Waiting, place.Missed
		if !place.Oldest.IsZero() {
			s.Oldest = &place.Oldest
		}
		list = append(list, s)
	}
	return list
}

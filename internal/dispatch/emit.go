package dispatch

import (
	"bytes"
	"time"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// Receipt is the answer to the sender of an event.
type Receipt struct {
	EventID   string
	Seq       uint64
	Matched   []string // hooks that run for it, in registration order
	Warnings  []string
	Duplicate bool
	Verdict   *verdict.Verdict // with wait
	Runs      []wire.Run       // with wait: those that were waited for; without their output
}

// Rest completes a receipt: it waits, as the sender does, for the disk or
// the runs. An error takes the acceptance back. It must be called, once.
type Rest func(*Receipt) *wire.Error

// Emit accepts one event. Without wait it returns when the runs are kept and
// queued, with wait when they have ended. It never fails because of a hook. A
// sender that leaves cancels nothing. env.Data may be used for something else
// when it has returned, unless it is Owned.
func (d *Dispatcher) Emit(from Origin, env events.Envelope) (Receipt, *wire.Error) {
	rcpt, rest, err := d.Begin(from, &env)
	if err == nil && rest != nil {
		err = rest(&rcpt)
	}
	if err != nil {
		return Receipt{}, err
	}
	return rcpt, nil
}

// Begin is the part of Emit that does not wait; a nil Rest means that there is
// no other. So a sender of many events need not wait for each. env, and env.Data
// unless it is Owned, may be used for something else when Begin has returned.
func (d *Dispatcher) Begin(from Origin, env *events.Envelope) (Receipt, Rest, *wire.Error) {
	if env.ID == "" {
		return d.acceptor.accept(from, env, nil, nil)
	}
	return d.beginOnce(from, env)
}

// beginOnce is Begin for an event that its sender may send again.
func (d *Dispatcher) beginOnce(from Origin, env *events.Envelope) (Receipt, Rest, *wire.Error) {
	seen, first, conflict := d.seen.enter(env, time.Now())
	if conflict != nil {
		return Receipt{}, nil, conflict
	}
	if !first {
		again := *env
		again.Data, again.At = bytes.Clone(env.Data), time.Time{}
		return Receipt{}, func(r *Receipt) (err *wire.Error) {
			var ok bool
			if *r, ok, err = d.seen.join(seen, again.Wait); !ok { // the first was refused, so this one is the first
				*r, err = d.Emit(from, again)
			}
			return err
		}, nil
	}
	var admitted bool
	defer func() {
		if !admitted { // a panic; duplicates must not wait for ever
			d.seen.answerDuplicates(seen, Receipt{}, false)
		}
	}()
	rcpt, rest, err := d.acceptor.accept(from, env, nil, &events.Sent{Content: seen.content})
	admitted = true
	if err == nil {
		d.seen.begin(seen, rcpt)
	}
	if err != nil || rest == nil {
		d.seen.answerDuplicates(seen, rcpt, err == nil)
		d.seen.finish(seen, rcpt)
		return rcpt, nil, err
	}
	return rcpt, func(r *Receipt) *wire.Error { return rest.tellDuplicates(d, seen, r) }, nil
}

// tellDuplicates reports the outcome of an event to its duplicates. After a panic
// they are accepted in its place: none may get an answer without its verdict.
func (rest Rest) tellDuplicates(d *Dispatcher, seen *entry, r *Receipt) (err *wire.Error) {
	first, returned := *r, false
	defer func() {
		d.seen.answerDuplicates(seen, first, returned && err == nil)
		d.seen.finish(seen, *r)
	}()
	err = rest(r)
	returned = true
	return err
}

// EmitOwn accepts an event of the daemon itself, such as gateway:startup. It
// does not wait for the disk.
func (d *Dispatcher) EmitOwn(env events.Envelope) (Receipt, *wire.Error) {
	rcpt, rest, err := d.acceptor.accept(Origin{}, &env, nil, nil)
	if rest != nil {
		go rest(&Receipt{})
	}
	return rcpt, err
}

// Missed records a call that hookd was not asked about, as its bridge failed. env is the question, as far as it is
// known; why is for people. It does not wait, and no hook runs for it.
func (d *Dispatcher) Missed(env events.Envelope, why string) {
	d.accepting.RLock()
	defer d.accepting.RUnlock()
	if d.draining {
		return
	}
	index, e := d.snapshots.index.Load(), new(events.Event)
	d.acceptor.fill(e, &env, index, index.Named(env.Dialect, env.Event), env.At)
	e.EventID = events.NewID(env.At)
	e.Tool, e.Subject = dialect.Subject(e, d.opts.Redact)
	e.CallID = dialect.CallID(e)
	if d.tracker.decisions.calls.miss(e) {
		return
	}
	rec := d.tracker.decisions.decided(e, allowed(), nil)
	rec.Guarded, rec.Reason = wire.GuardedNotAsked, why
	d.tracker.trackResult(rec, func(*wire.Decision) {}, true)
}

// Replay accepts an event again as a new one, with which its hooks run as
// observers: only the hook with the id or name only, unless that is "". A hook
// that asks for it stands in its chain as if it had sent the event.
func (d *Dispatcher) Replay(from Origin, e events.Event, only string) (Receipt, *wire.Error) {
	env := e.Envelope
	env.Wait, env.ID, env.Warnings = false, "", nil
	rcpt, rest, err := d.acceptor.accept(from, &env, &replay{of: e.EventID, only: only}, nil)
	if err == nil && rest != nil {
		err = rest(&rcpt)
	}
	return rcpt, err
}

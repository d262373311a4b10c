package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/record/store"
)

// outbound moves what waits on this machine to the servers.
type outbound struct {
	broker engine.Broker
	outbox Outbox
	names  Names
	log    *zap.Logger
	count  *counts
	work   chan struct{} // work is to leave
	every  chan struct{} // events for each machine are to leave
}

// passed is an event on its way to a hook on another machine.
type passed struct {
	Machine string          `json:"machine"`
	Hook    string          `json:"hook"`
	EventID string          `json:"event_id"`
	Time    time.Time       `json:"time"`
	Depth   int             `json:"depth,omitempty"`
	Event   events.Envelope `json:"event"`
}

// passing is the largest JSON beside the data of an event.
const passing = 8 << 10

// defaultLimit is the largest message of a server that says nothing else.
const defaultLimit = 1 << 20

// Send keeps an event until the servers have it, for the hook with a name and scope.
// ErrTooLarge means that they refuse it, store.ErrOutboxFull that there is no room.
func (o *outbound) Send(ctx context.Context, e *events.Event, name string, scope hook.Scope) error {
	limit := o.broker.State().Limit
	if limit == 0 {
		limit = defaultLimit
	}
	if scope == hook.ScopeEvery {
		limit = min(limit, maxBundle)
	}
	if size := len(e.Data) + passing; size > limit {
		return fmt.Errorf("%w: its data has %d bytes, and they take %d: raise max_payload of the servers",
			engine.ErrTooLarge, len(e.Data), limit-passing)
	}
	p := passed{
		Machine: o.names.Machine, Hook: name, EventID: e.EventID, Time: e.Time, Depth: e.Depth, Event: e.Envelope,
	}
	p.Event.ID, p.Event.Wait, p.Event.TimeoutMS, p.Event.Parent = "", false, 0, ""
	m := store.Outgoing{ID: e.EventID + "/" + name, At: e.Time, Body: encode(p)}
	leave := o.work
	m.Subject = o.names.subject(areaWork, token(name))
	if scope == hook.ScopeEvery { // a stream that is full holds up no other: each leaves for itself
		leave, m.Subject = o.every, o.names.subject(areaEvery)
	}
	if err := o.outbox.PutOutgoing(ctx, m); err != nil {
		return err
	}
	wake(leave)
	return nil
}

// How much leaves at once, in messages and in bytes. A machine that was away for long sends one
// batch after another, each when the servers have the one before.
const (
	sendBatch = 256
	sendBytes = 1 << 20
)

// sendWork moves the events for hooks of scope fleet to the servers, side by side: they have no
// order.
func (o *outbound) sendWork(ctx context.Context) {
	o.move(ctx, o.sendSome, o.work, "work for the fleet waits on disk")
}

// sendEvery moves the events for hooks of scope every to the servers, in their order.
func (o *outbound) sendEvery(ctx context.Context) {
	var next sealed
	send := func(ctx context.Context) (int, error) { return o.sendBundle(ctx, &next) }
	o.move(ctx, send, o.every, "events for the fleet wait on disk")
}

// move moves one batch after another while there is something, then when more has a token,
// until ctx ends. A failed batch is tried again after a pause, which ends when more has a token
// and the servers were away: prepare puts a token there when they answer again.
func (o *outbound) move(
	ctx context.Context, batch func(context.Context) (int, error), more <-chan struct{}, waits string,
) {
	for tries := 0; ; {
		n, err := batch(ctx)
		if err == nil {
			tries = 0
			if n == 0 {
				select {
				case <-more:
				case <-ctx.Done():
				}
			}
			if ctx.Err() != nil {
				return
			}
			continue
		}
		if !errors.Is(err, engine.ErrAway) && tries == 0 && ctx.Err() == nil {
			o.log.Warn(waits, zap.Error(err))
		}
		var early <-chan struct{}
		if !o.broker.State().Connected {
			early = more
		}
		if !backOff(ctx, tries, early) {
			return
		}
		tries++
	}
}

// sendSome sends the first messages of work that wait, and returns how many the servers have.
func (o *outbound) sendSome(ctx context.Context) (n int, err error) {
	if !o.broker.State().Connected {
		return 0, engine.ErrAway
	}
	waiting, err := o.outbox.Outgoing(ctx, o.names.subject(areaEvery), true, sendBatch, sendBytes)
	if err != nil || len(waiting) == 0 {
		return 0, err
	}
	list := make([]engine.Message, len(waiting))
	for i, m := range waiting {
		list[i] = engine.Message{Subject: m.Subject, ID: m.ID, Data: m.Body}
	}
	var gone []store.Outgoing
	for i, failed := range o.broker.Publish(ctx, list) {
		switch {
		case failed == nil:
			gone = append(gone, waiting[i])
		case errors.Is(failed, engine.ErrTooLarge):
			if err := o.setAside(ctx, waiting[i], failed); err != nil {
				return 0, err
			}
			n++
		default:
			err = failed
		}
	}
	return n + len(gone), errors.Join(o.sent(ctx, gone), err)
}

// bundle is one message with several events, in their order: one at a time is on its way, so that
// a message that fails cannot come after the next, and far servers cost a round trip for all.
type bundle struct {
	Events []passed `json:"events"`
}

// sealed is a bundle that is on its way. It is the same on each try: the servers store it once.
type sealed struct {
	of      []store.Outgoing
	message engine.Message
	left    time.Time // when the one before had left
}

// bundleEvery is the time between two bundles that are not full: a stream keeps so many of a
// machine, whatever is in them.
const bundleEvery = time.Second

// sendBundle sends the first events that wait for each machine as one message, and returns how
// many the servers have.
func (o *outbound) sendBundle(ctx context.Context, next *sealed) (n int, err error) {
	if !o.broker.State().Connected {
		return 0, engine.ErrAway
	}
	if len(next.of) == 0 {
		if err := o.seal(ctx, next, sendBatch); err != nil || len(next.of) == 0 {
			return 0, err
		}
		rest := bundleEvery - time.Since(next.left)
		if full := len(next.of) == sendBatch || len(next.message.Data) > maxBundle/2; rest > 0 && !full {
			wait(ctx, rest, nil)
			if err := o.seal(ctx, next, sendBatch); err != nil {
				return 0, err
			}
		}
	}
	failed := o.broker.Publish(ctx, []engine.Message{next.message})[0]
	switch {
	case failed == nil:
		n, err = len(next.of), o.sent(ctx, next.of)
		if err == nil {
			go func() { // the next bundle does not wait for its answer; others look each minute anyway
				_ = o.broker.Announce(o.names.subject(areaNews, areaEvery))
			}()
		}
		*next = sealed{left: time.Now()}
		return n, err
	case errors.Is(failed, engine.ErrTooLarge) && len(next.of) > 1:
		return 1, o.seal(ctx, next, 1)
	case errors.Is(failed, engine.ErrTooLarge):
		err = o.setAside(ctx, next.of[0], failed)
		*next = sealed{left: next.left}
		return 1, err
	}
	return 0, failed
}

// seal makes a message of the first events that wait, limit at most.
func (o *outbound) seal(ctx context.Context, next *sealed, limit int) error {
	*next = sealed{left: next.left}
	room := int64(maxBundle - passing)
	if most := o.broker.State().Limit; most > 0 {
		room = min(room, int64(most)-passing)
	}
	waiting, err := o.outbox.Outgoing(ctx, o.names.subject(areaEvery), false, limit, room)
	if err != nil || len(waiting) == 0 {
		return err
	}
	first := waiting[0]
	next.of, next.message = waiting, engine.Message{Subject: first.Subject, ID: first.ID, Data: first.Body}
	if len(waiting) == 1 {
		return nil
	}
	data := []byte(`{"events":[`)
	for i, m := range waiting {
		if i > 0 {
			data = append(data, ',')
		}
		data = append(data, m.Body...)
	}
	next.message.Data = append(data, "]}"...)
	next.message.ID = fmt.Sprintf("%s+%d", first.ID, len(waiting)-1)
	return nil
}

// sent forgets messages that the servers have.
func (o *outbound) sent(ctx context.Context, list []store.Outgoing) error {
	if len(list) == 0 {
		return nil
	}
	numbers := make([]uint64, len(list))
	for i, m := range list {
		numbers[i] = m.N
	}
	if err := o.outbox.SentOutgoing(ctx, numbers); err != nil {
		return err
	}
	o.count.sent.Add(uint64(len(list)))
	return nil
}

// setAside sets a message aside that the servers never take.
func (o *outbound) setAside(ctx context.Context, m store.Outgoing, why error) error {
	o.log.Warn("an event is larger than the servers take and was set aside",
		zap.String("message", m.ID), zap.Int("bytes", len(m.Body)), zap.Error(why))
	return o.outbox.RefuseOutgoing(ctx, m.N, why.Error())
}

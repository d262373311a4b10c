package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/record/store"
)

// outbound moves the messages that wait on this machine to the servers.
type outbound struct {
	broker engine.Broker
	outbox Outbox
	names  Names
	log    *zap.Logger
	count  *counts
	waits  refusals
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
	most := maxWork
	if scope == hook.ScopeEvery {
		most = maxBundle
	}
	if room := min(limit, most) - passing; len(e.Data) > room {
		hint := ""
		if limit < most {
			hint = ": raise max_payload of the servers"
		}
		return fmt.Errorf("%w: its data has %d bytes, and they take %d%s", engine.ErrTooLarge, len(e.Data), room, hint)
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
	held, until := o.waits.now()
	waiting, err := o.outbox.Outgoing(ctx, append(held, o.names.subject(areaEvery)), true, sendBatch, sendBytes)
	if err == nil && len(waiting) == 0 && len(held) > 0 {
		wait(ctx, max(time.Until(until), time.Millisecond), o.work) // 0 would be without an end
		return 1, nil                                               // look again
	}
	if err != nil || len(waiting) == 0 {
		return 0, err
	}
	list := make([]engine.Message, len(waiting))
	for i, m := range waiting {
		list[i] = engine.Message{Subject: m.Subject, ID: m.ID, Data: m.Body}
	}
	var gone []store.Outgoing
	refused := map[string]error{} // why, by subject
	for i, failed := range o.broker.Publish(ctx, list) {
		switch subject := waiting[i].Subject; {
		case failed == nil:
			gone = append(gone, waiting[i])
			o.waits.forget(subject)
		case errors.Is(failed, engine.ErrNoStream) && refused[subject] == nil:
			if failed = o.noQueue(ctx, subject, failed); errors.Is(failed, engine.ErrRefused) {
				refused[subject] = failed
			} else {
				err = failed
			}
		case errors.Is(failed, engine.ErrTooLarge):
			if err := o.setAside(ctx, waiting[i], failed); err != nil {
				return 0, err
			}
			n++
		case errors.Is(failed, engine.ErrRefused):
			refused[subject] = failed
		case refused[subject] == nil:
			err = failed
		}
	}
	for subject, why := range refused {
		o.waits.hold(o.log, subject, why)
	}
	return n + len(gone) + len(refused), errors.Join(o.sent(ctx, gone), err)
}

// noQueue returns why no stream has taken work, as ErrRefused where its hook has no queue.
func (o *outbound) noQueue(ctx context.Context, subject string, failed error) error {
	found, err := o.broker.Look(ctx, o.names.stream(areaWork))
	if err != nil || len(found.Subjects) == 0 {
		return failed
	}
	name := subject[strings.LastIndexByte(subject, '.')+1:]
	for _, pattern := range found.Subjects {
		if pattern == o.names.all(areaWork, name) || pattern == o.names.all(areaWork, ">") {
			return failed // the stream has no leader now
		}
	}
	return fmt.Errorf("%w: it has no queue: an operator has to type hookd fleet queue %s", engine.ErrRefused, name)
}

// refusals are the subjects of refused work, such as those of a full queue. Each
// waits for itself: the work of other hooks leaves.
type refusals struct {
	mu sync.Mutex
	of map[string]refusal
}

type refusal struct {
	until time.Time // it is tried again
	tries int
	err   error
}

// saidAfter is the number of refusals in a row before a subject is told: a short fullness is no news.
const saidAfter = 3

// now returns the waiting subjects, and the time of the first retry.
func (l *refusals) now() (held []string, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for subject, of := range l.of {
		if time.Until(of.until) <= 0 {
			continue
		}
		held = append(held, subject)
		if until.IsZero() || of.until.Before(until) {
			until = of.until
		}
	}
	return held, until
}

func (l *refusals) hold(log *zap.Logger, subject string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[string]refusal{}
	}
	of := l.of[subject]
	of.until, of.err = time.Now().Add(pause.Doubled(firstPause, mostPause, of.tries)), err
	if of.tries++; of.tries == saidAfter {
		log.Warn("events for the fleet wait on disk", zap.String("subject", subject), zap.Error(err))
	}
	l.of[subject] = of
}

// forget notes that the servers took a message of a subject.
func (l *refusals) forget(subject string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.of, subject)
}

// why returns why a subject waits; "" = none does.
func (l *refusals) why() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, subject := range slices.Sorted(maps.Keys(l.of)) {
		if of := l.of[subject]; of.tries >= saidAfter {
			return fmt.Sprintf("events wait here, %s: %v", subject, of.err)
		}
	}
	return ""
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
		o.waits.forget(next.message.Subject)
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
	case !errors.Is(failed, engine.ErrAway):
		o.waits.hold(o.log, next.message.Subject, failed)
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
	waiting, err := o.outbox.Outgoing(ctx, []string{o.names.subject(areaEvery)}, false, limit, room)
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

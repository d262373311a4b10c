package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/wire"
)

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
func (f *Fleet) Send(ctx context.Context, e *events.Event, name string, scope hook.Scope) error {
	limit := f.opts.Broker.State().Limit
	if limit == 0 {
		limit = defaultLimit
	}
	if size := len(e.Data) + passing; size > limit {
		return fmt.Errorf("%w: its data has %d bytes, and they take %d: raise max_payload of the servers",
			engine.ErrTooLarge, len(e.Data), limit-passing)
	}
	p := passed{
		Machine: f.names.Machine, Hook: name, EventID: e.EventID, Time: e.Time, Depth: e.Depth, Event: e.Envelope,
	}
	p.Event.ID, p.Event.Wait, p.Event.TimeoutMS, p.Event.Parent = "", false, 0, ""
	m := store.Outgoing{ID: e.EventID + "/" + name, At: e.Time, Body: encode(p)}
	if scope == hook.ScopeEvery {
		m.Subject, m.Key = f.names.subject(areaEvery), e.SessionID
	} else {
		m.Subject = f.names.subject(areaWork, token(name))
	}
	if err := f.opts.Outbox.PutOutgoing(ctx, m); err != nil {
		return err
	}
	wake(f.leave)
	return nil
}

// How much leaves at once, in messages and in bytes. A machine that was away for long sends one
// batch after another, each when the servers have the one before.
const (
	sendBatch = 256
	sendBytes = 1 << 20
)

// send moves the outbox to the servers.
func (f *Fleet) send(ctx context.Context) {
	f.move(ctx, f.sendBatch, f.leave, "events for the fleet wait on disk")
}

// move moves one batch after another while there is something, then when more has a token,
// until ctx ends. A failed batch is tried again after a pause, which ends when more has a token
// and the servers were away: prepare puts a token there when they answer again.
func (f *Fleet) move(
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
			f.log.Warn(waits, zap.Error(err))
		}
		var early <-chan struct{}
		if !f.opts.Broker.State().Connected {
			early = more
		}
		if !backOff(ctx, tries, early) {
			return
		}
		tries++
	}
}

// sendBatch sends the first messages that wait, and returns how many the servers have.
func (f *Fleet) sendBatch(ctx context.Context) (n int, err error) {
	if !f.opts.Broker.State().Connected {
		return 0, engine.ErrAway
	}
	waiting, err := f.opts.Outbox.Outgoing(ctx, sendBatch, sendBytes)
	if err != nil || len(waiting) == 0 {
		return 0, err
	}
	waiting = inOrder(waiting)
	list := make([]engine.Message, len(waiting))
	for i, m := range waiting {
		list[i] = engine.Message{Subject: m.Subject, ID: m.ID, Data: m.Body}
	}
	var gone []uint64
	for i, failed := range f.opts.Broker.Publish(ctx, list) {
		switch {
		case failed == nil:
			gone = append(gone, waiting[i].N)
		case errors.Is(failed, engine.ErrTooLarge):
			f.log.Warn("an event is larger than the servers take and was set aside",
				zap.String("message", waiting[i].ID), zap.Int("bytes", len(waiting[i].Body)), zap.Error(failed))
			if err := f.opts.Outbox.RefuseOutgoing(ctx, waiting[i].N, failed.Error()); err != nil {
				return 0, err
			}
			n++
		default:
			err = failed
		}
	}
	if len(gone) > 0 {
		if err := f.opts.Outbox.SentOutgoing(ctx, gone); err != nil {
			return 0, err
		}
		f.count.sent.Add(uint64(len(gone)))
	}
	return n + len(gone), err
}

// inOrder returns the first messages, up to a message with a key that another has: of each key
// one at a time is on its way, so that a message that fails cannot come after the next.
func inOrder(list []store.Outgoing) []store.Outgoing {
	seen := map[string]bool{}
	for i, m := range list {
		if m.Key == "" {
			continue
		}
		if seen[m.Key] {
			return list[:i]
		}
		seen[m.Key] = true
	}
	return list
}

// read reads an event that another machine has passed on, and checks that it fits its
// subject.
func (f *Fleet) read(d engine.Delivery, area string) (p passed, err error) {
	machine, rest, ok := f.names.sender(d.Subject, area)
	if !ok {
		return p, fmt.Errorf("it stands under %s", d.Subject)
	}
	if err := json.Unmarshal(d.Data, &p); err != nil {
		return p, fmt.Errorf("it cannot be read: %w", err)
	}
	if p.Machine != machine {
		return p, fmt.Errorf("it says that it is of %q, and was sent by %s", p.Machine, machine)
	}
	if area == areaWork && (len(rest) != 1 || rest[0] != token(p.Hook)) {
		return p, fmt.Errorf("it is for hook %q, and stands under %s", p.Hook, strings.Join(rest, "."))
	}
	return p, p.check()
}

// check is an error for a message that cannot be an event.
func (p passed) check() error {
	if !wire.IsID(p.EventID) {
		return fmt.Errorf("its event has the id %q", p.EventID)
	}
	if bad := events.CheckName(p.Event.Event); bad != nil {
		return bad
	}
	if !json.Valid(p.Event.Data) || len(p.Event.Data) == 0 || p.Event.Data[0] != '{' {
		return errors.New("its data is no object")
	}
	return nil
}

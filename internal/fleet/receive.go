package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/wire"
)

// takeWork takes the event of a delivery. One that this machine refuses for now goes back:
// another machine may be faster.
func (f *Fleet) takeWork(ctx context.Context, d engine.Delivery) {
	list, err := f.names.read(d.Stored, areaWork)
	if err != nil {
		f.refuse(d.Stored, err)
		acknowledge(d, f.log)
		return
	}
	if d.Try > 1 {
		f.count.again.Add(1)
	}
	bad := f.accept(list[0])
	if bad == nil {
		acknowledge(d, f.log)
		return
	}
	f.count.skipped.Add(1)
	if err := d.Later(laterBy(d.Try)); err != nil {
		f.log.Debug("a message of the fleet could not be given back", zap.Error(err))
	}
	backOff(ctx, 2, nil) // not at once more of what this machine does not take
}

// followEvents takes the events for hooks of scope every, in their order, until ctx ends.
func (f *Fleet) followEvents(ctx context.Context) {
	var ears sync.WaitGroup
	ears.Go(func() { f.in.listen(ctx, f.names.all(areaNews, areaEvery), f.arrived) })
	defer ears.Wait()
	var part struct { // events that are taken of a message that was left in the middle
		at time.Time // when it was stored: another stream of the name has its numbers again
		n  int
	}
	f.in.follow(ctx, areaEvery, f.names.all(areaEvery), f.arrived, func(m engine.Stored) error {
		list, err := f.names.read(m, areaEvery)
		if err != nil {
			f.refuse(m, err)
			return nil
		}
		if !part.at.Equal(m.Time) {
			part.at, part.n = m.Time, 0
		}
		for ; part.n < len(list); part.n++ {
			p := list[part.n]
			if p.Machine == f.names.Machine { // it ran here when it was accepted
				continue
			}
			if bad := f.accept(p); bad != nil && bad.Code == wire.CodeNotFound { // no such hook, or for other events
				f.count.skipped.Add(1)
			} else if bad != nil {
				return bad
			}
		}
		return nil
	})
}

// senderPrefix begins the sender of an event of another machine.
const senderPrefix = "fleet:"

// accept gives an event to this machine; nil = it has it, or will never want it.
func (f *Fleet) accept(p passed) *wire.Error {
	duplicate, bad := f.opts.Accept(p.brought())
	switch {
	case bad == nil && duplicate:
		f.count.doubles.Add(1)
	case bad == nil:
		f.count.taken.Add(1)
	case bad.Code == wire.CodeIDConflict: // the id of an event that said something else
		f.count.refused.Add(1)
		f.log.Warn("an event of the fleet is refused", zap.String("machine", p.Machine), zap.Error(bad))
	default:
		return bad
	}
	return nil
}

// refuse notes a message that cannot be taken whatever happens.
func (f *Fleet) refuse(m engine.Stored, err error) {
	f.count.refused.Add(1)
	f.log.Warn("a message of the fleet is refused", zap.String("subject", m.Subject), zap.Uint64("seq", m.Seq),
		zap.Error(err))
}

// read reads the events that another machine has passed on in one message, and checks that they
// fit its subject.
func (n Names) read(m engine.Stored, area string) ([]passed, error) {
	machine, rest, ok := n.sender(m.Subject, area)
	if !ok {
		return nil, fmt.Errorf("it stands under %s", m.Subject)
	}
	var list bundle
	if err := json.Unmarshal(m.Data, &list); err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	if len(list.Events) == 0 {
		var one passed
		if err := json.Unmarshal(m.Data, &one); err != nil {
			return nil, fmt.Errorf("it cannot be read: %w", err)
		}
		list.Events = []passed{one}
	}
	if area == areaWork && (len(list.Events) != 1 || len(rest) != 1 || rest[0] != token(list.Events[0].Hook)) {
		return nil, fmt.Errorf("it is for hook %q, and stands under %s", list.Events[0].Hook, strings.Join(rest, "."))
	}
	for _, p := range list.Events {
		if p.Machine != machine {
			return nil, fmt.Errorf("it says that it is of %q, and was sent by %s", p.Machine, machine)
		}
		if err := p.check(); err != nil {
			return nil, err
		}
	}
	return list.Events, nil
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

// brought is the event as this machine accepts it.
func (p passed) brought() events.Envelope {
	env := p.Event
	env.Sender, env.ID, env.Owned = senderPrefix+p.Machine, p.EventID+"/"+p.Hook, true
	env.Brought = &events.Brought{Machine: p.Machine, EventID: p.EventID, Hook: p.Hook, Depth: p.Depth}
	return env
}

// acknowledge tells the servers that a message was taken.
func acknowledge(d engine.Delivery, log *zap.Logger) {
	if err := d.Took(); err != nil {
		log.Debug("a message of the fleet will come again: its servers do not know that it was taken", zap.Error(err))
	}
}

// laterBy returns the time after which a machine gets a message again.
func laterBy(try int) time.Duration { return min(time.Second<<min(try-1, 6), time.Minute) }

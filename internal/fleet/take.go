package fleet

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/wire"
)

// take returns the handler for messages of a consumer.
func (f *Fleet) take(spec engine.Spec) func(context.Context, engine.Delivery) {
	area := areaWork
	if spec.Serial {
		area = areaEvery
	}
	return func(ctx context.Context, d engine.Delivery) {
		p, err := f.read(d, area)
		switch {
		case err != nil:
			f.count.refused.Add(1)
			f.log.Warn("a message of the fleet is refused", zap.String("subject", d.Subject), zap.Uint64("seq", d.Seq),
				zap.Error(err))
			f.took(d)
		case area == areaEvery && p.Machine == f.names.Machine: // it ran here when it was accepted
			f.took(d)
		default:
			if d.Try > 1 {
				f.count.again.Add(1)
			}
			f.accept(ctx, d, p, area)
		}
	}
}

// senderPrefix begins the sender of an event of another machine.
const senderPrefix = "fleet:"

// accept gives an event to this machine. An event that the machine refuses for now is offered again:
// in place where the order counts, else another machine may be faster.
func (f *Fleet) accept(ctx context.Context, d engine.Delivery, p passed, area string) {
	for tries := 0; ; tries++ {
		duplicate, bad := f.opts.Accept(p.brought())
		switch {
		case bad == nil:
			if duplicate {
				f.count.doubles.Add(1)
			} else {
				f.count.taken.Add(1)
			}
			f.took(d)
			return
		case bad.Code == wire.CodeNotFound && area == areaEvery: // no such hook, or for other events
			f.count.skipped.Add(1)
			f.took(d)
			return
		case bad.Code == wire.CodeIDConflict: // the id of an event that said something else
			f.count.refused.Add(1)
			f.log.Warn("an event of the fleet is refused", zap.String("machine", p.Machine), zap.Error(bad))
			f.took(d)
			return
		case area != areaEvery:
			f.count.skipped.Add(1)
			if err := d.Later(laterBy(d.Try)); err != nil {
				f.log.Debug("a message of the fleet could not be given back", zap.Error(err))
			}
			backOff(ctx, min(tries, 2), nil) // not at once more of what this machine does not take
			return
		}
		d.Still()
		if !backOff(ctx, min(tries, 2), nil) { // for less than the servers wait for a machine
			return
		}
	}
}

// brought is the event as this machine accepts it.
func (p passed) brought() events.Envelope {
	env := p.Event
	env.Sender, env.ID, env.Owned = senderPrefix+p.Machine, p.EventID+"/"+p.Hook, true
	env.Brought = &events.Brought{Machine: p.Machine, EventID: p.EventID, Hook: p.Hook, Depth: p.Depth}
	return env
}

func (f *Fleet) took(d engine.Delivery) {
	if err := d.Took(); err != nil {
		f.log.Debug("a message of the fleet will come again: its servers do not know that it was taken", zap.Error(err))
	}
}

// laterBy returns the time after which a machine gets a message again.
func laterBy(try int) time.Duration { return min(time.Second<<min(try-1, 6), time.Minute) }

package recorder

import (
	"context"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/wire"
)

// mostTaken is how many events TakeBack hands to the store at a time.
const mostTaken = 256

// TakeBack accepts again the events in the file of a loss, except those in the history, and calls run with the key of
// each of their runs. The store then forgets the loss, unless its file could not be read.
func (r *Recorder) TakeBack(ctx context.Context, l wire.Loss, run func(events.PendingKey)) wire.RecoveredLoss {
	did := wire.RecoveredLoss{Loss: l}
	var err error
	if l.Path != "" {
		if did.Events, did.Unreadable, err = r.takeBack(ctx, l, run); err == nil {
			did.Kept = store.TakenBack(l.Path)
		}
	}
	if err == nil {
		err = r.store.ForgetLoss(ctx, l, did.Events)
	}
	if err != nil {
		did.Error, did.Kept = err.Error(), ""
	}
	return did
}

func (r *Recorder) takeBack(
	ctx context.Context, l wire.Loss, run func(events.PendingKey),
) (count, unreadable int, err error) {
	stored, waiting := make(chan error, mostTaken), 0
	await := func() (err error) {
		for ; waiting > 0; waiting-- {
			if e := <-stored; err == nil {
				err = e
			}
		}
		return err
	}
	var keys []events.PendingKey
	unreadable, err = r.store.SetAside(ctx, l, func(e *events.Event, hooks []string) error {
		done := func(_ bool, bad *wire.Error) {
			if bad != nil {
				stored <- bad
				return
			}
			stored <- nil
		}
		if bad := r.Accept(e, nil, hooks, done); bad != nil {
			return bad
		}
		count++
		for _, hook := range hooks {
			keys = append(keys, events.PendingKey{Seq: e.Seq, Hook: hook})
		}
		if waiting++; waiting == mostTaken {
			return await()
		}
		return nil
	})
	if bad := await(); err == nil {
		err = bad
	}
	for _, k := range keys {
		run(k)
	}
	return count, unreadable, err
}

package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/api"
	"github.com/hookd/hookd/internal/events"
)

// Decisions is what was decided on this machine and is not told yet, as the store keeps it.
type Decisions interface {
	// Ahead returns the first decisions that were not told, and how many were pruned before
	// they could be.
	Ahead(ctx context.Context, limit int) (list []events.Decided, missed int64, err error)
	// Told moves on behind the decision with this number.
	Told(through uint64, missed int64)
	// Waiting returns how many were not told, and when the oldest of them was made.
	Waiting(ctx context.Context) (n int, oldest time.Time, err error)
}

// tellDecisions tells what is decided, in order, until ctx ends.
func (f *Fleet) tellDecisions(ctx context.Context) {
	if f.opts.Decisions != nil {
		f.move(ctx, f.tellBatch, f.decided, "decisions for the fleet wait in the history")
	}
}

// Decided has new decisions told. It does not block.
func (f *Fleet) Decided() { wake(f.decided) }

// tellBatch tells the first decisions that were not told, and returns how many. Those after
// one that fails are told again, under the same ids.
func (f *Fleet) tellBatch(ctx context.Context) (n int, err error) {
	if !f.online() {
		return 0, ErrAway
	}
	list, missed, err := f.opts.Decisions.Ahead(ctx, sendBatch)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	messages := make([]Message, len(list))
	for i, d := range list {
		messages[i] = Message{
			Subject: f.names.subject(areaLog, "decision"), ID: fmt.Sprintf("%s/%d", d.EventID, d.Seq),
			Data: encode(api.FleetDecision{Machine: f.names.Machine, Decision: d}),
		}
	}
	for i, failed := range f.opts.Broker.Publish(ctx, messages) {
		if errors.Is(failed, ErrTooLarge) {
			f.log.Warn("a decision is larger than the servers take and is not told", zap.String("event_id", list[i].EventID))
		} else if failed != nil {
			err = failed
			break
		}
		n++
	}
	if n > 0 {
		if missed > 0 {
			f.log.Warn("decisions were pruned before the fleet was told of them", zap.Int64("decisions", missed))
		}
		f.opts.Decisions.Told(list[n-1].Seq, missed)
	}
	return n, err
}

package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/wire"
)

// Decisions are those of this machine that are not published yet, as the store keeps them.
type Decisions interface {
	// Ahead returns the first decisions that are not published, and how many were pruned
	// before they could be.
	Ahead(ctx context.Context, limit int) (list []wire.Decision, missed int64, err error)
	// Published notes that the decision with this number, and all before it, are published.
	Published(through uint64, missed int64)
	// Waiting returns how many are not published, and when the oldest of them was made.
	Waiting(ctx context.Context) (n int, oldest time.Time, err error)
}

// publishDecisions publishes new decisions, in order, until ctx ends.
func (f *Fleet) publishDecisions(ctx context.Context) {
	if f.opts.Decisions != nil {
		f.move(ctx, f.publishBatch, f.decided, "decisions for the fleet wait in the history")
	}
}

// Decided has new decisions published soon. It does not block.
func (f *Fleet) Decided() { wake(f.decided) }

// publishBatch publishes the first decisions that are not published, and returns how many.
// Decisions after a failure are published again, under the same ids.
func (f *Fleet) publishBatch(ctx context.Context) (n int, err error) {
	if !f.online() {
		return 0, engine.ErrAway
	}
	list, missed, err := f.opts.Decisions.Ahead(ctx, sendBatch)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	messages := make([]engine.Message, len(list))
	for i, d := range list {
		messages[i] = engine.Message{
			Subject: f.names.subject(areaLog, "decision"), ID: fmt.Sprintf("%s/%d", d.EventID, d.Seq),
			Data: short(wire.FleetDecision{Machine: f.names.Machine, Decision: d}),
		}
	}
	for i, failed := range f.opts.Broker.Publish(ctx, messages) {
		if errors.Is(failed, engine.ErrTooLarge) {
			f.log.Warn("a decision is larger than the servers take and stays here", zap.String("event_id", list[i].EventID))
		} else if failed != nil {
			err = failed
			break
		}
		n++
	}
	if n > 0 {
		if missed > 0 {
			f.log.Warn("decisions were pruned before the fleet had them", zap.Int64("decisions", missed))
		}
		f.opts.Decisions.Published(list[n-1].Seq, missed)
	}
	return n, err
}

// short encodes a decision. One that the servers would not take loses details that its machine has.
func short(d wire.FleetDecision) []byte {
	const most, mostReason = maxDecision - 1<<10, 4 << 10 // without the headers of its message
	text := encode(d)
	if len(text) > most {
		of := &d.Decision
		of.NewInput, of.Earlier, of.Runs, of.Shadow, of.Untaken, of.Opened = nil, nil, nil, nil, nil, nil
		of.Reason = strings.ToValidUTF8(of.Reason[:min(len(of.Reason), mostReason)], "")
		text = encode(d)
	}
	return text
}

package recorder

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/internal/record/stream"
	"github.com/hookd/hookd/wire"
)

// waits lets a reader of the history wait for the records so far.
type waits struct {
	hub   *stream.Hub
	store *store.Store

	// storing is read-locked from when a record gets its number until the store has
	// it, so that a reader of the history up to a number finds all records.
	storing sync.RWMutex

	mu   sync.Mutex                       // guards soon
	soon map[*wire.Decision]chan struct{} // decisions that Flush waits for; closed when recorded
}

// WaitStored returns when the store has each record that has a number now, and the last of
// these numbers.
func (w *waits) WaitStored() (last uint64) {
	w.storing.Lock()
	defer w.storing.Unlock()
	return w.hub.Stats().Seq
}

// isRecorded has Flush no longer wait for d.
func (w *waits) isRecorded(d *wire.Decision) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.soon[d]; c != nil {
		delete(w.soon, d)
		close(c)
	}
}

// waitSoon returns when each decision is recorded that an agent may have shown, after
// flushTime or when ctx ends.
func (w *waits) waitSoon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	w.mu.Lock()
	list := slices.Collect(maps.Values(w.soon))
	w.mu.Unlock()
	for _, c := range list {
		select {
		case <-c:
		case <-ctx.Done():
			return
		}
	}
}

// flushTime is how long a query waits until all records so far are on disk.
const flushTime = 2 * time.Second

// Flush waits until all records so far are on disk. Decisions that wait for the words that their
// agent heard are among them. It is false when that takes too long or the disk fails.
func (w *waits) Flush(ctx context.Context) bool {
	w.waitSoon(ctx)
	w.WaitStored()
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	return w.store.Flush(ctx) == nil
}

// flushEvents is Flush for queries of events: events that only the journal has go into the
// history, which may take longer when they are many. It ends when that does not get on.
func (w *waits) flushEvents(ctx context.Context) {
	w.waitSoon(ctx)
	w.flushStored(ctx)
}

// flushStored is flushEvents for the records that the store has already.
func (w *waits) flushStored(ctx context.Context) {
	w.WaitStored()
	for left := w.store.Health().Journaled; ; {
		short, cancel := context.WithTimeout(ctx, flushTime)
		err := w.store.FlushEvents(short)
		cancel()
		now := w.store.Health().Journaled
		if err == nil || ctx.Err() != nil || now >= left {
			return
		}
		left = now
	}
}

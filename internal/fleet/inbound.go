package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/fleet/engine"
)

// Position keeps how far this machine has read a stream. A reader keeps its position itself: a
// consumer on the servers for each machine would be what a fleet pays for most, and who makes a
// consumer can have the servers publish.
type Position interface {
	// ReadThrough returns the number of the last message that was read of a stream; 0 = none. known is false
	// where this machine has read no stream of that name, whenever that began.
	ReadThrough(stream string, begun time.Time) (seq uint64, known bool, err error)
	// SetReadThrough returns when the disk has the number.
	SetReadThrough(stream string, begun time.Time, seq uint64) error
}

// inbound reads the messages of other machines.
type inbound struct {
	broker   engine.Broker
	position Position
	names    Names
	log      *zap.Logger
	begun    <-chan struct{} // closed when the streams were there once
	online   func() bool

	mu      sync.Mutex
	trouble map[string]string // why messages of an area cannot be read; "" = they can
}

// why returns why messages cannot be read; "" = they can.
func (r *inbound) why() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return cmp.Or(r.trouble[areaEvery], r.trouble[areaAnswer])
}

// readEvery is how often a stream is read where nothing is heard of it: news may be missed.
const readEvery = time.Minute

// savedEach is after how many messages a reader keeps its position.
const savedEach = 256

// follow reads the messages of an area that this machine has not read, in their order, and again
// when there is news, until ctx ends. An error of each stops the reader before that message, and
// it goes on with it after a pause.
func (r *inbound) follow(
	ctx context.Context, area, subject string, news <-chan struct{}, each func(engine.Stored) error,
) {
	select {
	case <-r.begun:
	case <-ctx.Done():
		return
	}
	for tries := 0; ctx.Err() == nil; {
		err := engine.ErrAway
		if r.online() {
			err = r.readOn(ctx, area, subject, each)
		}
		if ctx.Err() == nil {
			r.noteReading(area, err)
		}
		if err == nil {
			tries = 0
			wait(ctx, readEvery, news)
			continue
		}
		backOff(ctx, tries, news)
		tries++
	}
}

// readOn reads on from the position of this machine; a machine without one begins with the messages to come.
func (r *inbound) readOn(ctx context.Context, area, subject string, each func(engine.Stored) error) error {
	stream := r.names.stream(area)
	found, err := r.broker.Look(ctx, stream)
	if err != nil {
		return err
	}
	through, known, err := r.position.ReadThrough(stream, found.Begun)
	if err == nil && !known {
		through, err = found.Last, r.position.SetReadThrough(stream, found.Begun, found.Last)
	}
	if err != nil {
		return fmt.Errorf("the position in %s: %w", stream, err)
	}
	saved, failed := through, error(nil)
	save := func() error {
		if saved == through {
			return nil
		}
		saved = through
		return r.position.SetReadThrough(stream, found.Begun, through)
	}
	from := engine.Query{Stream: stream, Subject: subject, After: through}
	err = r.broker.Read(ctx, from, func(m engine.Stored) bool {
		if failed = each(m); failed != nil {
			return false
		}
		through = m.Seq
		if through-saved >= savedEach {
			failed = save()
		}
		return failed == nil && ctx.Err() == nil
	})
	return errors.Join(err, failed, save())
}

// noteReading notes why an area cannot be read; nil = it can. The log says it when it changes.
func (r *inbound) noteReading(area string, err error) {
	why := ""
	if err != nil && !errors.Is(err, engine.ErrAway) {
		why = fmt.Sprintf("messages of the fleet for %s wait: %v", area, err)
	}
	r.mu.Lock()
	was := r.trouble[area]
	r.trouble[area] = why
	r.mu.Unlock()
	if why != "" && why != was {
		r.log.Warn("messages of the fleet cannot be taken now", zap.String("of", area), zap.Error(err))
	}
}

// wait waits for news, at most for d; 0 = without an end. False = ctx has ended.
func wait(ctx context.Context, d time.Duration, news <-chan struct{}) bool {
	var due <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-due:
	case <-news:
	case <-ctx.Done():
		return false
	}
	return true
}

// listen wakes a reader when a machine says that there is news of an area, until ctx ends.
func (r *inbound) listen(ctx context.Context, subject string, heard chan struct{}) {
	_ = r.broker.Listen(ctx, subject, func() { wake(heard) }) // it ends with ctx
}

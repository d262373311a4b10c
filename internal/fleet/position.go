package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/fleet/engine"
)

// Position keeps how far this machine has read a stream. A reader keeps its position itself: a
// consumer on the servers for each machine would be what a fleet pays for most, and who makes a
// consumer can have the servers publish.
type Position interface {
	// ReadThrough returns the number of the last message that was read of a stream; 0 = none.
	ReadThrough(stream string, begun time.Time) (uint64, error)
	// SetReadThrough returns when the disk has the number.
	SetReadThrough(stream string, begun time.Time, seq uint64) error
}

// readEvery is how often a stream is read where nothing is heard of it: news may be missed.
const readEvery = time.Minute

// savedEach is after how many messages a reader keeps its position.
const savedEach = 256

// follow reads the messages of an area that this machine has not read, in their order, and again
// when there is news, until ctx ends. An error of each stops the reader before that message, and
// it goes on with it after a pause.
func (f *Fleet) follow(
	ctx context.Context, area, subject string, news <-chan struct{}, each func(engine.Stored) error,
) {
	select {
	case <-f.begun:
	case <-ctx.Done():
		return
	}
	for tries := 0; ctx.Err() == nil; {
		err := engine.ErrAway
		if f.online() {
			err = f.readOn(ctx, area, subject, each)
		}
		if ctx.Err() == nil {
			f.noteReading(area, err)
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

// readOn reads on from the position of this machine.
func (f *Fleet) readOn(ctx context.Context, area, subject string, each func(engine.Stored) error) error {
	stream := f.names.stream(area)
	begun, err := f.opts.Broker.Begun(ctx, stream)
	if err != nil {
		return err
	}
	through, err := f.opts.Position.ReadThrough(stream, begun)
	if err != nil {
		return fmt.Errorf("read the position in %s: %w", stream, err)
	}
	saved, failed := through, error(nil)
	save := func() error {
		if saved == through {
			return nil
		}
		saved = through
		return f.opts.Position.SetReadThrough(stream, begun, through)
	}
	err = f.opts.Broker.Read(ctx, engine.Query{Stream: stream, Subject: subject, After: through}, func(m engine.Stored) bool {
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
func (f *Fleet) noteReading(area string, err error) {
	why := ""
	if err != nil && !errors.Is(err, engine.ErrAway) {
		why = fmt.Sprintf("messages of the fleet for %s wait: %v", area, err)
	}
	f.mu.Lock()
	was := f.reading
	f.reading = why
	f.mu.Unlock()
	if why != "" && why != was {
		f.log.Warn("messages of the fleet cannot be taken now", zap.String("of", area), zap.Error(err))
	}
}

// wait waits for news, at most for d.
func wait(ctx context.Context, d time.Duration, news <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-news:
	case <-ctx.Done():
	}
}

// listen wakes a reader when a machine says that there is news of an area, until ctx ends.
func (f *Fleet) listen(ctx context.Context, subject string, heard chan struct{}) {
	_ = f.opts.Broker.Listen(ctx, subject, func() { wake(heard) }) // it ends with ctx
}

package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	js "github.com/nats-io/nats.go/jetstream"

	"github.com/hookd/hookd/internal/fleet/engine"
)

// How the server treats messages.
const (
	sameID   = 10 * time.Minute // a message with the ID of another is stored once within it
	copies   = 3                // of each stream, where the servers are a cluster
	ackWait  = 10 * time.Second // a message is given to another machine when this one is silent
	maxTries = 50               // after which a message is a dead letter
	window   = 256              // messages that a machine has at once: at 200 ms to the servers 1,000 a second
	// messages that all machines of a consumer have at once: a machine that ends keeps its window for ackWait
	windows = 16 * window
)

// Prepare fits engine.Publisher. A stream that is there is left as it is, except its
// subjects: its sizes are for the people who run the servers to change.
func (b *Broker) Prepare(ctx context.Context, streams []engine.Stream) error {
	for _, s := range streams {
		if err := b.prepare(ctx, s); err != nil {
			return fmt.Errorf("stream %s: %w", s.Name, b.why(err))
		}
	}
	return nil
}

func (b *Broker) prepare(ctx context.Context, s engine.Stream) error {
	found, err := b.js.Stream(ctx, s.Name)
	if err == nil {
		cfg := found.CachedInfo().Config
		if slices.Equal(cfg.Subjects, s.Subjects) {
			return nil
		}
		cfg.Subjects = s.Subjects
		_, err = b.js.UpdateStream(ctx, cfg)
		return err
	}
	if !errors.Is(err, js.ErrStreamNotFound) {
		return err
	}
	_, err = b.js.CreateStream(ctx, b.config(s))
	if errors.Is(err, js.ErrStreamNameAlreadyInUse) { // another machine was first
		return nil
	}
	return err
}

func (b *Broker) config(s engine.Stream) js.StreamConfig {
	cfg := js.StreamConfig{
		Name: s.Name, Subjects: s.Subjects, Retention: js.LimitsPolicy, Storage: js.FileStorage,
		MaxAge: s.MaxAge, MaxBytes: s.MaxBytes, MaxMsgSize: -1, MaxMsgsPerSubject: -1,
		Duplicates: sameID, Discard: js.DiscardOld, AllowDirect: true, Replicas: 1, AllowRollup: s.Objects,
	}
	if s.MaxAge > 0 {
		cfg.Duplicates = min(sameID, s.MaxAge)
	}
	if s.MaxMessage > 0 {
		cfg.MaxMsgSize = int32(s.MaxMessage)
	}
	if s.PerSubject > 0 {
		cfg.MaxMsgsPerSubject = int64(s.PerSubject)
	}
	if s.Refuse {
		cfg.Discard = js.DiscardNew
	}
	if b.nc.ConnectedClusterName() != "" {
		cfg.Replicas = copies
	}
	return cfg
}

// Consume fits engine.Consumer. It makes the consumer, and makes it again should it be
// gone, until ctx ends.
func (b *Broker) Consume(ctx context.Context, c engine.Spec, handle func(context.Context, engine.Delivery)) error {
	b.share(c)
	for tries := 0; ctx.Err() == nil; tries++ {
		if tries > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(b.pauseFor(c, tries)):
			}
		}
		if !b.State().Connected {
			continue
		}
		took, err := b.consume(ctx, c, handle)
		if took > 0 {
			tries = 0
		}
		if err != nil && ctx.Err() == nil && !b.isLeft(c) {
			b.noteConsumer(c, b.why(err))
		}
	}
	return ctx.Err()
}

// share notes that a consumer may be one of other machines alone.
func (b *Broker) share(c engine.Spec) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left[c.Stream+"."+c.Name] = false
}

// isLeft is whether the servers do not give a consumer to this machine, as far as is known.
func (b *Broker) isLeft(c engine.Spec) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left[c.Stream+"."+c.Name]
}

// pauseFor is how long Consume waits before it tries a consumer again. A consumer that is left to
// other machines is asked for each minute: the machine may become a worker.
func (b *Broker) pauseFor(c engine.Spec, tries int) time.Duration {
	if b.isLeft(c) {
		return mostPause
	}
	return pause(min(tries-1, 4))
}

func (b *Broker) consumerConfig(c engine.Spec) js.ConsumerConfig {
	return js.ConsumerConfig{
		Durable: c.Name, FilterSubject: c.Subject, AckPolicy: js.AckExplicitPolicy, AckWait: ackWait,
		MaxDeliver: b.tries, MaxAckPending: windows, DeliverPolicy: js.DeliverAllPolicy,
	}
}

// consumer returns a consumer. It makes one that is missing: that succeeds with a key that may do
// everything, such as the key of a server that runs beside hookd.
func (b *Broker) consumer(ctx context.Context, c engine.Spec) (js.Consumer, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	found, err := b.js.Consumer(ctx, c.Stream, c.Name)
	if errors.Is(err, js.ErrConsumerNotFound) {
		if found, err = b.js.CreateConsumer(ctx, c.Stream, b.consumerConfig(c)); err != nil {
			err = fmt.Errorf("it is not there: %s: %w", c.Missing, err)
		}
	}
	return found, err
}

// consume returns how many messages it handled, when the consumer ends or ctx does.
func (b *Broker) consume(
	ctx context.Context,
	c engine.Spec,
	handle func(context.Context, engine.Delivery),
) (took int, err error) {
	consumer, err := b.consumer(ctx, c)
	if err != nil {
		return 0, err
	}
	messages, err := consumer.Messages(js.PullMaxMessages(window), js.PullHeartbeat(5*time.Second))
	if err != nil {
		return 0, err
	}
	b.noteConsumer(c, nil)
	defer context.AfterFunc(ctx, messages.Stop)()
	places := make(chan struct{}, window)
	defer func() { // all calls have returned
		for range window {
			places <- struct{}{}
		}
	}()
	for {
		m, err := messages.Next()
		if errors.Is(err, js.ErrNoHeartbeat) && b.State().Connected {
			continue
		}
		if err != nil {
			return took, err
		}
		meta, err := m.Metadata()
		if err != nil {
			return took, err
		}
		took++
		places <- struct{}{}
		go func() {
			defer func() { <-places }()
			handle(ctx, engine.Delivery{
				Stored: stored(m, meta), Try: int(meta.NumDelivered),
				Took:  func() error { return b.took(m) },
				Later: func(d time.Duration) error { return m.NakWithDelay(d) },
			})
		}()
	}
}

// took waits until the server knows: a message that it gives again runs again.
func (b *Broker) took(m js.Msg) error {
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	return b.why(m.DoubleAck(ctx))
}

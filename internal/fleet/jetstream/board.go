package jetstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"github.com/hookd/hookd/internal/fleet/engine"
)

var _ engine.Press = (*Broker)(nil)

// Listen fits engine.Board.
func (b *Broker) Listen(ctx context.Context, subject string, heard func()) error {
	s, err := b.nc.Subscribe(subject, func(*nats.Msg) { heard() })
	if err != nil {
		return b.why(err)
	}
	<-ctx.Done()
	return errors.Join(ctx.Err(), s.Unsubscribe())
}

// Replace fits engine.Press.
func (b *Broker) Replace(ctx context.Context, m engine.Message, seq uint64) error {
	if !b.State().Connected {
		return engine.ErrAway
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	_, err := b.js.Publish(ctx, m.Subject, m.Data, js.WithExpectLastSequencePerSubject(seq))
	var api *js.APIError
	if errors.As(err, &api) && api.ErrorCode == js.JSErrCodeStreamWrongLastSequence {
		return engine.ErrReplaced
	}
	return tooLarge(b.why(err))
}

// MakeConsumers fits engine.Press.
func (b *Broker) MakeConsumers(ctx context.Context, consumers []engine.Spec) error {
	for _, c := range consumers {
		if _, err := b.js.CreateOrUpdateConsumer(ctx, c.Stream, b.consumerConfig(c)); err != nil {
			return fmt.Errorf("make the consumer %s: %w", c.Name, b.why(err))
		}
	}
	return nil
}

// DeleteConsumers fits engine.Press.
func (b *Broker) DeleteConsumers(ctx context.Context, consumers []engine.Spec) error {
	for _, c := range consumers {
		err := b.js.DeleteConsumer(ctx, c.Stream, c.Name)
		if err != nil && !errors.Is(err, js.ErrConsumerNotFound) {
			return fmt.Errorf("delete the consumer %s: %w", c.Name, b.why(err))
		}
	}
	return nil
}

// Purge fits engine.Press.
func (b *Broker) Purge(ctx context.Context, stream, subject string) error {
	found, err := b.js.Stream(ctx, stream)
	if err == nil {
		err = found.Purge(ctx, js.WithPurgeSubject(subject))
	}
	if err != nil {
		return fmt.Errorf("delete the messages under %s: %w", subject, b.why(err))
	}
	return nil
}

// Announce fits engine.Board.
func (b *Broker) Announce(subject string) error {
	return b.why(errors.Join(b.nc.Publish(subject, nil), b.nc.FlushTimeout(callTime)))
}

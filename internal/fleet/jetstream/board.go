package jetstream

import (
	"context"
	"errors"

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

// Announce fits engine.Press.
func (b *Broker) Announce(subject string) error {
	return b.why(errors.Join(b.nc.Publish(subject, nil), b.nc.FlushTimeout(callTime)))
}

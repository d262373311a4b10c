package jetstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"github.com/hookd/hookd/internal/fleet"
)

var _ fleet.Press = (*Broker)(nil)

// Latest fits fleet.Board.
func (b *Broker) Latest(ctx context.Context, stream, subject string) (m fleet.Stored, there bool, err error) {
	if !b.State().Connected {
		return m, false, fleet.ErrAway
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	s, err := b.js.Stream(ctx, stream)
	var raw *js.RawStreamMsg
	if err == nil {
		raw, err = s.GetLastMsgForSubject(ctx, subject)
	}
	if errors.Is(err, js.ErrMsgNotFound) {
		return m, false, nil
	}
	if err != nil {
		return m, false, fmt.Errorf("read %s: %w", stream, b.why(err))
	}
	return fleet.Stored{
		Message: fleet.Message{Subject: raw.Subject, Data: raw.Data}, Seq: raw.Sequence, Time: raw.Time,
	}, true, nil
}

// Listen fits fleet.Board.
func (b *Broker) Listen(ctx context.Context, subject string, heard func()) error {
	s, err := b.nc.Subscribe(subject, func(*nats.Msg) { heard() })
	if err != nil {
		return b.why(err)
	}
	<-ctx.Done()
	return errors.Join(ctx.Err(), s.Unsubscribe())
}

// Replace fits fleet.Press.
func (b *Broker) Replace(ctx context.Context, m fleet.Message, seq uint64) error {
	if !b.State().Connected {
		return fleet.ErrAway
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	_, err := b.js.Publish(ctx, m.Subject, m.Data, js.WithExpectLastSequencePerSubject(seq))
	var api *js.APIError
	if errors.As(err, &api) && api.ErrorCode == js.JSErrCodeStreamWrongLastSequence {
		return fleet.ErrReplaced
	}
	return tooLarge(b.why(err))
}

// Object fits fleet.Board.
func (b *Broker) Object(ctx context.Context, bucket, name string, limit int64) ([]byte, error) {
	if !b.State().Connected {
		return nil, fleet.ErrAway
	}
	store, err := b.js.ObjectStore(ctx, bucket)
	if err != nil {
		return nil, b.why(err)
	}
	object, err := store.Get(ctx, name)
	if errors.Is(err, js.ErrObjectNotFound) {
		return nil, fleet.ErrNoObject
	}
	if err != nil {
		return nil, b.why(err)
	}
	defer object.Close()
	data, err := io.ReadAll(io.LimitReader(object, limit+1))
	if int64(len(data)) > limit {
		return nil, fleet.ErrTooLarge
	}
	return data, b.why(err)
}

// Announce fits fleet.Press.
func (b *Broker) Announce(subject string) error {
	return b.why(errors.Join(b.nc.Publish(subject, nil), b.nc.FlushTimeout(callTime)))
}

// PutObject fits fleet.Press.
func (b *Broker) PutObject(ctx context.Context, bucket, name string, data []byte) error {
	if !b.State().Connected {
		return fleet.ErrAway
	}
	store, err := b.js.ObjectStore(ctx, bucket)
	if err == nil {
		_, err = store.Put(ctx, js.ObjectMeta{Name: name}, bytes.NewReader(data))
	}
	return b.why(err)
}

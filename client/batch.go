package client

import (
	"context"
	"errors"
	"slices"
)

// batchSize is how many events are written at once.
const batchSize = 64

// A Reply is the outcome of one event of a batch.
type Reply struct {
	Answer Answer
	Err    error // a *Error when hookd refused it; else why there is no answer
}

// EmitAll sends many events over one connection and returns a Reply for each,
// in their order. A refused event does not keep the others from being sent.
//
// The error is nil when each event has its answer or its refusal. Else the
// connection was lost: the first Reply without an answer and all after it have
// that error, and their events may or may not have been accepted. Events with
// an ID can be sent again.
func (c *Client) EmitAll(ctx context.Context, list []Event) ([]Reply, error) {
	replies := make([]Reply, len(list))
	if len(list) == 0 {
		return replies, nil
	}
	for _, ev := range list { // before any is sent
		if _, err := ev.AppendLine(nil); err != nil {
			return fail(replies, 0, err), err
		}
	}
	ctx, cancel := c.limit(ctx)
	defer cancel()
	conn, err := c.Dial(ctx)
	if err != nil {
		return fail(replies, 0, err), err
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		conn.sendAll(ctx, list)
	}()
	n, err := conn.receiveAll(ctx, replies)
	conn.Close() // a sender that still writes ends
	<-sent
	for i := n; i < len(replies); i++ {
		replies[i].Err = lostAfter(err, list[i])
	}
	return replies, lostAfter(err, list...)
}

// lostAfter marks err where all the events can be sent again, and only there.
func lostAfter(err error, list ...Event) error {
	if slices.ContainsFunc(list, func(ev Event) bool { return ev.ID == "" }) {
		return unmark(err)
	}
	return markRetryable(err)
}

// sendAll sends until the connection breaks. The receiver sees that too, after
// the answers that came before.
func (c *Conn) sendAll(ctx context.Context, list []Event) {
	for part := range slices.Chunk(list, batchSize) {
		if c.Send(ctx, part...) != nil {
			return
		}
	}
}

// receiveAll fills replies, and returns how many and why not all.
func (c *Conn) receiveAll(ctx context.Context, replies []Reply) (int, error) {
	for i := range replies {
		answer, err := c.Receive(ctx)
		var refused *Error
		if err != nil && !errors.As(err, &refused) {
			return i, err
		}
		replies[i] = Reply{answer, err}
	}
	return len(replies), nil
}

func fail(replies []Reply, from int, err error) []Reply {
	for i := from; i < len(replies); i++ {
		replies[i].Err = err
	}
	return replies
}

package client

import (
	"context"

	"github.com/hookd/hookd/wire"
)

// Fleet returns how this machine and all others of its fleet are. It fails with
// CodeNotFound on a machine of none, as all methods for fleets do.
func (c *Client) Fleet(ctx context.Context) (FleetInfo, error) {
	return get[FleetInfo](ctx, c, wire.PathFleet)
}

// FleetDecisions lists the decisions on all machines, newest first.
func (c *Client) FleetDecisions(ctx context.Context, q FleetQuery) (FleetDecisions, error) {
	return get[FleetDecisions](ctx, c, withQuery(wire.PathFleetDecisions, q.Values()))
}

// FleetSessions lists the sessions of all machines, the session with the newest event
// first.
func (c *Client) FleetSessions(ctx context.Context, q SessionQuery) ([]FleetSession, error) {
	page, err := get[wire.FleetSessions](ctx, c, withQuery(wire.PathFleetSessions, q.Values()))
	return page.Sessions, err
}

// FleetAsks lists the asks that wait for an answer on all machines, the oldest first.
func (c *Client) FleetAsks(ctx context.Context) ([]FleetAsk, error) {
	page, err := get[wire.FleetAsks](ctx, c, wire.PathFleetAsks)
	return page.Asks, err
}

// PassAnswer sends the answer of an approver to the machine that asks. Whether it counts
// is that machine's to say.
func (c *Client) PassAnswer(ctx context.Context, a FleetAnswer) error {
	_, err := post[struct{}](ctx, c, wire.PathFleetAnswers, a)
	return err
}

// FleetDeadLetters lists events that no machine took, newest first: for hook, or for all
// when that is ""; limit at most, 50 when that is 0. The machine needs the role of a worker,
// as for all calls that are about one.
func (c *Client) FleetDeadLetters(ctx context.Context, hook string, limit int) ([]DeadLetter, error) {
	return c.deadLetters(ctx, wire.PathFleetDead, hook, limit)
}

// FleetDeadLetter returns one of them, with the data that its hook was to be given.
func (c *Client) FleetDeadLetter(ctx context.Context, id int64) (DeadLetter, error) {
	return get[DeadLetter](ctx, c, deadPath(wire.PathFleetDead, id))
}

// RetryFleetDeadLetter has this machine take it. It fails with CodeNotFound where the
// machine does not have the hook.
func (c *Client) RetryFleetDeadLetter(ctx context.Context, id int64) (DeadLetter, error) {
	return post[DeadLetter](ctx, c, deadPath(wire.PathFleetDead, id)+"/retry", nil)
}

// DropFleetDeadLetter deletes it.
func (c *Client) DropFleetDeadLetter(ctx context.Context, id int64) (DeadLetter, error) {
	return c.dropDeadLetter(ctx, deadPath(wire.PathFleetDead, id))
}

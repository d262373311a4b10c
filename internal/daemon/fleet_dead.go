package daemon

import (
	"context"

	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/wire"
)

// FleetDeadLetters fits server.Fleet.
func (c *control) FleetDeadLetters(ctx context.Context, hook string, limit int) (wire.DeadLetters, *wire.Error) {
	list, err := c.d.fleet.DeadLetters(ctx, hook, limit)
	return list, fleet.Refusal(err)
}

// FleetDeadLetter fits server.Fleet.
func (c *control) FleetDeadLetter(ctx context.Context, id int64) (wire.DeadLetter, *wire.Error) {
	return c.d.fleet.DeadLetter(ctx, id)
}

// RetryFleetDead fits server.Fleet.
func (c *control) RetryFleetDead(ctx context.Context, id int64) (wire.DeadLetter, *wire.Error) {
	return c.d.fleet.RetryDead(ctx, id)
}

// DropFleetDead fits server.Fleet.
func (c *control) DropFleetDead(ctx context.Context, id int64) (wire.DeadLetter, *wire.Error) {
	return c.d.fleet.DropDead(ctx, id)
}

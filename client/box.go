package client

import (
	"context"

	"github.com/hookd/hookd/wire"
)

// BeginBox claims the ticket of a box, which counts once.
func (c *Client) BeginBox(ctx context.Context, id string, b wire.BoxStart) (wire.BoxBegun, error) {
	return post[wire.BoxBegun](ctx, c, wire.PathBoxes+"/"+escape(id), b)
}

// EndBox says how a box ended, and returns a line for the model; "" = nothing is to be said.
func (c *Client) EndBox(ctx context.Context, id string, b wire.BoxEnd) (tell string, err error) {
	told, err := post[wire.BoxTold](ctx, c, wire.PathBoxes+"/"+escape(id)+"/end", b)
	return told.Tell, err
}

package client

import (
	"context"

	"github.com/hookd/hookd/wire"
)

// Undoable lists the calls that something was kept for, the newest first.
func (c *Client) Undoable(ctx context.Context, q wire.UndoQuery) (wire.UndoList, error) {
	return get[wire.UndoList](ctx, c, withQuery(wire.PathUndo, q.Values()))
}

// PurgeUndo deletes the files that are kept for a call, or for all where id is "all".
func (c *Client) PurgeUndo(ctx context.Context, id string) (wire.UndoPurged, error) {
	r, err := c.request(ctx, "DELETE", wire.PathUndo+"/"+escape(id), nil)
	if err != nil {
		return wire.UndoPurged{}, err
	}
	return decode[wire.UndoPurged](r)
}

// Undo takes calls back, or says which effects that would have.
func (c *Client) Undo(ctx context.Context, r wire.UndoRequest) (wire.UndoAnswer, error) {
	return post[wire.UndoAnswer](ctx, c, wire.PathUndo, r)
}

// AddDump puts a file into the vault of c's daemon for a call, whose id is hookd's or its agent's.
func AddDump(ctx context.Context, c *Client, call string, r wire.DumpRequest) (wire.Dump, error) {
	return post[wire.Dump](ctx, c, wire.PathUndo+"/"+escape(call)+"/dumps", r)
}

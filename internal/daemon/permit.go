package daemon

import (
	"context"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/door/server"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/record/audit"
	"github.com/hookd/hookd/wire"
)

// Permit lets the next call pass that is the same as a denied one. It lifts the denials of the
// hooks that have denied that call, and of no other.
func (c *control) Permit(
	ctx context.Context, from server.Peer, id string, p wire.Permit,
) (wire.Grants, *wire.Error) {
	e, bad := c.d.history.Event(ctx, id)
	if bad != nil {
		return wire.Grants{}, bad
	}
	d := e.Decision
	switch {
	case d == nil || d.Decision != wire.OutcomeDeny:
		return wire.Grants{}, &wire.Error{
			Code: wire.CodeBadRequest, Message: "call " + e.EventID + " was not denied",
			Hint: "see the calls that were: `hookd log --deny`",
		}
	case d.CallSum == "":
		return wire.Grants{}, &wire.Error{
			Code: wire.CodeBadRequest, Message: "hookd kept too little of call " + e.EventID + " to recognize it again",
			Hint: "snooze the guard instead: see `hookd why " + e.EventID + "`",
		}
	}
	hooks, bad := c.deniers(ctx, d)
	if bad != nil {
		return wire.Grants{}, bad
	}
	by := personAt(from)
	made, bad := c.d.asks.AddPermits(ctx, d, hooks, p.For, by)
	if bad != nil {
		return wire.Grants{}, bad
	}
	for _, g := range made {
		c.d.store.Audit(time.Now().UTC(), audit.Permit, g)
	}
	c.d.logAct("a denied call may pass", from)
	return wire.Grants{Grants: made}, nil
}

// deniers returns the hooks that have denied a call, as they are now.
func (c *control) deniers(ctx context.Context, of *wire.Decision) (hooks []*hook.Hook, bad *wire.Error) {
	names := slices.Clone(of.DecidedBy)
	runs, bad := c.d.history.Runs(ctx, wire.RunQuery{EventID: of.EventID})
	if bad != nil {
		return nil, bad
	}
	for _, r := range runs.Runs {
		denied := r.Decision == wire.OutcomeDeny || r.Failure == wire.FailureDenies
		if r.Awaited && denied && !slices.Contains(names, r.Hook) {
			names = append(names, r.Hook)
		}
	}
	for _, name := range names {
		e, bad := c.d.inventory.find(name)
		if bad != nil || e.Hook == nil { // it denies nothing now
			continue
		}
		if e.Hook.Layer.Signed() {
			return nil, &wire.Error{
				Code: wire.CodeForbidden, Message: "hook " + name + " is of the policy: no permit lifts its denials",
				Hint: "ask who signs the policy: `hookd team policy show`",
			}
		}
		hooks = append(hooks, e.Hook)
	}
	if len(hooks) == 0 {
		return nil, &wire.Error{
			Code: wire.CodeBadRequest, Message: "no hook that denied call " + of.EventID + " is in force",
			Hint: "let the agent try again",
		}
	}
	return hooks, nil
}

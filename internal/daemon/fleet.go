package daemon

import (
	"cmp"
	"context"
	"errors"
	"net"
	"sync"

	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/door/server"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/fleet/link"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/internal/run/runner"
	"github.com/hookd/hookd/wire"
)

// membership is this machine as one of a fleet. Nil = it is in none.
type membership struct {
	*fleet.Fleet
	program *link.Program
	server  *fleet.Embedded // nil = the servers are elsewhere
}

// joinFleet makes the machine a member of the fleet that the settings name; nil = they
// name none. Servers may be away.
func (d *Daemon) joinFleet() (*membership, error) {
	c := d.config.Load()
	if !c.Fleet.Enabled() {
		return nil, nil
	}
	name, err := c.Fleet.Machine()
	if err != nil {
		return nil, err
	}
	m := &membership{}
	o := engine.Options{Servers: c.Fleet.Addresses(), Creds: c.Fleet.Creds, CA: c.Fleet.CA, Machine: name}
	if c.Fleet.Embedded {
		m.server = &fleet.Embedded{Address: o.Servers[0], Dir: c.FleetDir(), Log: d.opts.Log.Named("fleet-server")}
		o.MakeKey = true
		o.Creds = cmp.Or(o.Creds, m.server.Key())
	}
	m.program = &link.Program{Socket: c.Socket, Broker: link.New(o), Log: d.opts.Log.Named("fleet")}
	m.Fleet = fleet.New(fleet.Options{
		Broker: m.program.Broker, Names: fleet.Names{Tenant: c.Fleet.Tenant, Machine: name},
		Outbox: d.store, Position: positions{c.FleetDir()}, Log: d.opts.Log,
		Accept: d.acceptBrought, Machine: machine{d}, Asked: machine{d}, Decisions: decisions{d},
		Directives: machine{d},
	})
	return m, nil
}

// acceptBrought accepts an event of another machine. It returns when that is on disk.
func (d *Daemon) acceptBrought(env events.Envelope) (duplicate bool, err *wire.Error) {
	r, err := d.dispatch.Emit(dispatch.Origin{}, env)
	return r.Duplicate, err
}

// FleetLink fits server.Fleet.
func (c *control) FleetLink(ctx context.Context, from server.Peer, link net.Conn) *wire.Error {
	if err := c.d.fleet.program.Attach(ctx, from.PID, link); err != nil {
		return &wire.Error{Code: wire.CodeForbidden, Message: err.Error()}
	}
	return nil
}

// run works until ctx ends.
func (m *membership) run(ctx context.Context) {
	if m == nil {
		return
	}
	var programs sync.WaitGroup
	if m.server != nil {
		programs.Go(func() { m.server.Run(ctx, func() {}) })
	}
	programs.Go(func() { m.program.Run(ctx) })
	m.Run(ctx)
	programs.Wait()
}

// retain sets which hooks are in force.
func (m *membership) retain(hooks []*hook.Hook) {
	if m != nil {
		m.Retain(hooks)
	}
}

// changed has the state of this machine published soon, and the newest directive looked for.
func (m *membership) changed() {
	if m != nil {
		m.Changed()
		m.LookForDirective()
	}
}

// decided has new decisions published soon.
func (m *membership) decided() {
	if m != nil {
		m.Decided()
	}
}

// outgoing returns the fleet that the runner gives events to; nil = nothing.
func (m *membership) outgoing() runner.Fleet {
	if m == nil {
		return nil
	}
	return m
}

// Send fits runner.Fleet.
func (m *membership) Send(ctx context.Context, j *dispatch.Job) error {
	err := m.Fleet.Send(ctx, j.Event, j.Hook.SentFor(), j.Hook.Scope)
	if errors.Is(err, store.ErrOutboxFull) || errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrIO) {
		return errors.Join(runner.ErrFull, err)
	}
	return err
}

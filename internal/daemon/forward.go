package daemon

import (
	"context"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/record/forward"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/wire"
)

// lastForward is how long the last decisions have to reach their targets when the daemon
// stops. Decisions that come too late wait in the history.
const lastForward = 2 * time.Second

// placeTime is how long the places of targets may take to be read.
const placeTime = 2 * time.Second

// forwarding hands decisions on to the targets of the setting forward.
type forwarding struct{ *forward.Forwarder }

func (d *Daemon) newForward() forwarding {
	f := forward.New(forward.Options{
		Log: d.recorder, Places: places{d.store, d.fleet != nil}, Version: d.opts.Version, Logger: d.opts.Log,
	})
	d.recorder.OnDecision(func() {
		f.Nudge()
		d.fleet.decided()
	})
	places{d.store, d.fleet != nil}.Targets(nil)
	f.Configure(d.config.Load().Forward)
	return forwarding{f}
}

// places are those of the targets of forward, and that of the fleet.
type places struct {
	*store.Store
	fleet bool
}

// Targets fits forward.Places.
func (p places) Targets(names []string) {
	if p.fleet {
		names = append(slices.Clone(names), fleetPlace)
	}
	p.Store.Targets(names)
}

// drain hands the last decisions on.
func (f forwarding) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastForward)
	defer cancel()
	f.Drain(ctx)
}

// info is the state of each target.
func (f forwarding) info(ctx context.Context) []wire.Forward {
	ctx, cancel := context.WithTimeout(ctx, placeTime)
	defer cancel()
	return f.Status(ctx)
}

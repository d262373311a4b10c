package daemon

import (
	"context"
	"errors"
	"os"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/api"
	"github.com/hookd/hookd/internal/catalog"
	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/match"
	"github.com/hookd/hookd/internal/proc"
	"github.com/hookd/hookd/internal/rehearse"
	"github.com/hookd/hookd/internal/runner"
	"github.com/hookd/hookd/internal/when"
)

// TestLocal runs one hook as the daemon would, without a daemon. The hook is
// named as in the hooks directory, or by its folder.
func TestLocal(ctx context.Context, c config.Config, name string, env events.Envelope) (tested api.Tested, err error) {
	h, err := catalog.Find(c, name)
	if err != nil {
		return api.Tested{}, err
	}
	return tested, locally(ctx, c, func(d *dispatch.Dispatcher) (refused *events.Error) {
		tested, refused = try(ctx, d, dispatch.Origin{}, h, env)
		return refused
	})
}

// TestsLocal runs the tests in a hook's file as the daemon would, without a daemon.
func TestsLocal(ctx context.Context, c config.Config, h *hook.Hook) (tests api.Tests, err error) {
	return tests, locally(ctx, c, func(d *dispatch.Dispatcher) (refused *events.Error) {
		tests, refused = rehearse.Tests(ctx, d, dispatch.Origin{}, h)
		return refused
	})
}

// WhatIfLocal asks a hook about events of the past, without a daemon. past calls its
// argument with each event; asking tells of what is known meanwhile. When ctx ends, the
// answer is of what was asked until then.
func WhatIfLocal(
	ctx context.Context,
	c config.Config,
	h *hook.Hook,
	past func(each func(rehearse.Past) error) error,
	asking func(*rehearse.Asking),
) (sum rehearse.WhatIf, err error) {
	var failed error
	err = locally(context.WithoutCancel(ctx), c, func(d *dispatch.Dispatcher) *events.Error {
		a := rehearse.Ask(d, h)
		asking(a)
		failed = rehearse.All(ctx, a, h, past)
		sum = a.Sum()
		return nil
	})
	if ctx.Err() != nil {
		sum.Stopped, failed = true, nil
	}
	return sum, errors.Join(failed, err)
}

// locally calls do with a Dispatcher of its own that records nothing.
func locally(ctx context.Context, c config.Config, do func(*dispatch.Dispatcher) *events.Error) error {
	temp, err := os.MkdirTemp("", "hookd-test-")
	if err != nil {
		return err
	}
	p := proc.New(proc.Options{Cgroup: true})
	r := runner.New(runner.Options{Proc: p, TempDir: temp, DataDir: c.DataDir(), Log: zap.NewNop()})
	r.Configure(c)
	d := dispatch.New(dispatch.Options{Runner: r, Recorder: noRecords{}, Links: when.NewDisk()})
	if refused := do(d); refused != nil {
		err = refused
	}
	r.Close(ctx)
	return errors.Join(err, p.Close(), os.RemoveAll(temp))
}

// noRecords is a Recorder that records nothing.
type noRecords struct{}

func (noRecords) Prepare(*events.Event, bool) dispatch.Prepared { return nil }
func (noRecords) Watched() bool                                 { return false }

func (noRecords) Accept(
	_ *events.Event,
	_ dispatch.Prepared,
	_ []string,
	stored func(bool, *events.Error),
) *events.Error {
	if stored != nil {
		stored(false, nil)
	}
	return nil
}
func (noRecords) Started(events.PendingKey, string, time.Time)          {}
func (noRecords) Finished(events.PendingKey, events.Run, dispatch.Fate) {}
func (noRecords) Begun(func() events.UnderWay)                          {}
func (noRecords) Decided(*events.Decided)                               {}
func (noRecords) Keeps() bool                                           { return false }
func (noRecords) NextPending(uint64) (int64, error)                     { return 0, nil }
func (noRecords) Pending(uint64, int) ([]events.Pending, error)         { return nil, nil }

// try runs h for env and returns everything about the run. Without an event's name it
// uses the first that the hook names, with an example of its payload.
func try(
	ctx context.Context,
	d *dispatch.Dispatcher,
	from dispatch.Origin,
	h *hook.Hook,
	env events.Envelope,
) (api.Tested, *events.Error) {
	if env.Event == "" {
		env.Event = match.FirstEvent(h)
	}
	if len(env.Data) == 0 || string(env.Data) == "{}" {
		env = match.Sample(h, env)
	}
	t, err := d.Try(ctx, from, h, env)
	if err != nil {
		return api.Tested{}, err
	}
	tested := api.Tested{Run: t.Run, Verdict: t.Verdict, Why: t.Why, Decides: t.Blocks, Warning: t.Warning}
	if t.Job != nil {
		tested.Given, tested.Stdin = t.Job.Given, string(runner.Stdin(t.Job))
	}
	return tested, nil
}

package rehearse

import (
	"context"
	"errors"
	"os"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/when"
	"github.com/hookd/hookd/internal/proc"
	"github.com/hookd/hookd/internal/run/runner"
	"github.com/hookd/hookd/wire"
)

// TryLocal is Try without a daemon. The hook is named as in the hooks directory, or by
// its folder.
func TryLocal(ctx context.Context, c config.Config, name string, env events.Envelope) (tested wire.Tested, err error) {
	h, err := catalog.Find(c, name)
	if err != nil {
		return wire.Tested{}, err
	}
	err = locally(ctx, c, func(d *dispatch.Dispatcher) (refused *wire.Error) {
		tested, refused = Try(ctx, d, dispatch.Origin{}, h, env, "")
		return refused
	})
	return tested, err
}

// TestsLocal is Tests without a daemon.
func TestsLocal(ctx context.Context, c config.Config, h *hook.Hook) (tests wire.Tests, err error) {
	err = locally(ctx, c, func(d *dispatch.Dispatcher) (refused *wire.Error) {
		tests, refused = Tests(ctx, d, dispatch.Origin{}, h)
		return refused
	})
	return tests, err
}

// WhatIfLocal asks a hook about events of the past, without a daemon. past calls its
// argument with each event; asking has the results known meanwhile. When ctx ends, the
// answer is about the events asked until then.
func WhatIfLocal(
	ctx context.Context,
	c config.Config,
	h *hook.Hook,
	past func(each func(Past) error) error,
	asking func(*Asking),
) (sum WhatIf, err error) {
	var failed error
	err = locally(context.WithoutCancel(ctx), c, func(d *dispatch.Dispatcher) *wire.Error {
		a := Ask(d, h)
		asking(a)
		failed = All(ctx, a, past)
		sum = a.Sum()
		return nil
	})
	if ctx.Err() != nil {
		sum.Stopped, failed = true, nil
	}
	return sum, errors.Join(failed, err)
}

// locally calls do with a Dispatcher of its own that records nothing.
func locally(ctx context.Context, c config.Config, do func(*dispatch.Dispatcher) *wire.Error) error {
	temp, err := os.MkdirTemp("", "hookd-test-")
	if err != nil {
		return err
	}
	p := proc.New(proc.Options{Cgroup: true})
	r := runner.New(runner.Options{Proc: p, TempDir: temp, DataDir: c.DataDir(), Log: zap.NewNop()})
	r.Configure(c)
	d := dispatch.New(dispatch.Options{Runner: r, Links: when.NewDisk()})
	if refused := do(d); refused != nil {
		err = refused
	}
	r.Close(ctx)
	return errors.Join(err, p.Close(), os.RemoveAll(temp))
}

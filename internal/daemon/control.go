package daemon

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/door/server"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/stream"
	"github.com/hookd/hookd/internal/run/rehearse"
	"github.com/hookd/hookd/wire"
)

// control answers the socket. It fits the interfaces of package server.
type control struct{ d *Daemon }

var (
	_ server.Emitter  = (*control)(nil)
	_ server.Streamer = (*control)(nil)
	_ server.Hooks    = (*control)(nil)
	_ server.Asks     = (*control)(nil)
	_ server.State    = (*control)(nil)
	_ server.Fleet    = (*control)(nil)
)

// Begin gives an event to dispatch. It does not block.
func (c *control) Begin(from server.Peer, env *events.Envelope) (wire.Answer, server.Rest, *wire.Error) {
	if err := events.CheckReserved(env.Event); err != nil {
		return wire.Answer{}, nil, err
	}
	env.Sender = cmp.Or(env.Sender, from.Sender)
	c.d.persons.noteTrial(from, env)
	if !env.Tried {
		c.d.persons.noteAgent(from, env)
	}
	if c.d.config.Load().System {
		addPeer(env, from)
	}
	refused := c.d.programs.note(from, env)
	rcpt, rest, err := c.d.dispatch.Begin(chainOf(from), env)
	if err != nil || rest == nil {
		refused.unless(rcpt.Verdict)
		a, err := answer(rcpt, err)
		return a, nil, err
	}
	waits := rcpt // a copy, so that an event without rest allocates nothing
	return wire.Answer{}, func() (wire.Answer, *wire.Error) {
		err := rest(&waits)
		refused.unless(waits.Verdict)
		return answer(waits, err)
	}, nil
}

// addPeer names to hooks of the system daemon the process that has sent an event, as the
// kernel says. The sender of a user's event is that user: its id is compared with those of no other.
func addPeer(env *events.Envelope, from server.Peer) {
	if !from.Owner {
		env.Sender = from.Sender
	}
	env.Peer = &events.Peer{UID: from.UID, PID: from.PID, Program: from.Program}
}

// self is hookd's process id. To ask the system for it takes a tenth of the cost of an event
// without a hook.
var self = os.Getpid()

// chainOf returns the place of the peer in a chain of hooks.
func chainOf(from server.Peer) dispatch.Origin {
	var origin dispatch.Origin
	if c := connectedBy(from); c != nil {
		origin = c.Origin
	}
	if from.PID != self { // that is a call over HTTP, of which the caller is not known
		origin.PID = from.PID
	}
	return origin
}

func answer(r dispatch.Receipt, err *wire.Error) (wire.Answer, *wire.Error) {
	if err != nil {
		return wire.Answer{}, err
	}
	a := wire.Answer{
		EventID:   r.EventID,
		Seq:       r.Seq,
		Matched:   r.Matched,
		Duplicate: r.Duplicate,
		Warnings:  r.Warnings,
		Verdict:   verdict.ForModel(r.Verdict),
	}
	if a.Warnings == nil {
		a.Warnings = []string{}
	}
	for _, run := range r.Runs {
		a.Runs = append(
			a.Runs,
			wire.RunResult{
				RunID:      run.ID,
				Hook:       run.Hook,
				Result:     run.Result,
				ExitCode:   run.ExitCode,
				Signal:     run.Signal,
				DurationMS: run.DurationMS,
				Error:      run.Error,
			},
		)
	}
	return a, nil
}

// Subscribe compiles the globs; none of them means everything.
func (c *control) Subscribe(q wire.Subscribe) (server.Subscription, *wire.Error) {
	var patterns []pattern.Pattern
	for _, text := range q.Globs {
		p, err := pattern.Compile(text)
		if err != nil {
			return nil, &wire.Error{
				Code:    wire.CodeBadRequest,
				Message: fmt.Sprintf("pattern %q: %v", text, err),
				Hint:    "patterns look like agent:* or {agent,session}:start",
			}
		}
		patterns = append(patterns, p)
	}
	match := func(name string) bool {
		for _, p := range patterns {
			if p.Match(name) {
				return true
			}
		}
		return len(patterns) == 0
	}
	return c.d.hub.Subscribe(
		match,
		stream.From{Since: q.Since, Epoch: q.Epoch, Once: q.Follow != nil && !*q.Follow, Starts: q.Starts},
	), nil
}

func (c *control) Hooks(context.Context) wire.Hooks {
	snap := c.d.discovery.Current()
	list := wire.Hooks{
		Generation: snap.Generation,
		Hooks:      []wire.Hook{},
		Problems:   append(c.d.inventory.waitingSettings(), snap.Problems...),
	}
	for _, e := range snap.Entries {
		list.Hooks = append(list.Hooks, c.d.inventory.hook(e))
	}
	return list
}

func (c *control) Hook(_ context.Context, name string) (wire.Hook, *wire.Error) {
	e, err := c.d.inventory.find(name)
	if err != nil {
		return wire.Hook{}, err
	}
	a := c.d.inventory.hook(e)
	a.Changes = c.d.changes.Of(a.ID)
	if h := cmp.Or(e.Hook, e.Waits); h != nil {
		a.Script = h.ScriptText
	}
	return a, nil
}

// Test runs one hook now, whether it is enabled or not.
func (c *control) Test(ctx context.Context, from server.Peer, name string, t wire.Test) (wire.Tested, *wire.Error) {
	h, err := c.d.inventory.testable(name)
	if err != nil {
		return wire.Tested{}, err
	}
	tested, err := rehearse.Try(ctx, c.d.dispatch, chainOf(from), h, events.Received(t.Envelope), t.Tool)
	if err == nil {
		result := string(tested.Run.Result)
		c.d.logAct("a hook was tested", from, zap.String("hook", h.Name), zap.String("result", result))
	}
	return tested, err
}

// RunTests runs the tests in a hook's file.
func (c *control) RunTests(ctx context.Context, from server.Peer, name string) (wire.Tests, *wire.Error) {
	h, err := c.d.inventory.testable(name)
	if err != nil {
		return wire.Tests{}, err
	}
	tests, err := rehearse.Tests(ctx, c.d.dispatch, chainOf(from), h)
	if err == nil {
		c.d.suspects.noteTests(h, tests)
		c.d.logAct("a hook's tests were run", from, zap.String("hook", h.Name), zap.Int("failed", tests.Failed))
	}
	return tests, err
}

func (c *control) Reload(context.Context) (wire.Reload, *wire.Error) { return c.d.Reload(), nil }

func (c *control) Ready() string {
	switch {
	case c.d.dispatch.Stats().Draining:
		return "draining"
	case !c.d.ready.Load():
		return "starting"
	}
	if err := c.d.store.Health().Err; err != nil {
		return "the store cannot be written: " + err.Error()
	}
	return ""
}

func (c *control) Status(ctx context.Context) wire.Status {
	d := c.d
	load, hub, snap, cfg := d.dispatch.Stats(), d.hub.Stats(), d.discovery.Current(), d.config.Load()
	accepted, results := d.recorder.Totals()
	return wire.Status{
		Version: d.opts.Version, PID: os.Getpid(), Home: cfg.Home, Socket: cfg.Socket, Started: d.started,
		Epoch: d.hub.Epoch(), Seq: hub.Seq, Draining: load.Draining, Ready: c.Ready() == "",
		Generation: snap.Generation, Reloaded: snap.Loaded, Watching: d.discovery.Watching(), Path: d.runner.Path(),
		Hooks: d.inventory.states(snap), Runs: results, Events: accepted,
		Running: map[string]int{"observers": load.RunningObserve, "decidable": load.RunningDecide},
		Queued:  load.QueuedRuns, QueuedBytes: load.QueuedBytes, Retrying: load.Retrying, Behind: load.Behind,
		Store: d.storage(), Subscribers: hub.Subscribers, Gaps: hub.Gaps, Copies: d.runner.Alive(),
		Cgroup: d.proc.Cgroup(), Starts: d.proc.Way(),
		HTTP: d.agentHTTP.State(), Policy: d.policy.info(), Forward: d.forward.info(ctx),
		Fleet:     machine{d}.fleetLag(ctx),
		Unguarded: d.programs.addTo(d.unguarded.list(time.Now())), Snoozed: d.snoozes.list(), Permits: d.asks.Permits(),
		Problems: d.inventory.problems(snap), Restart: d.inventory.restarts(), Settings: trust.Sum(cfg.File),
		InForce: cfg.Values(),
	}
}

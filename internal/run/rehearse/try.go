package rehearse

import (
	"context"

	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match"
	"github.com/hookd/hookd/internal/run/runner"
	"github.com/hookd/hookd/wire"
)

// Try runs h for env, whether it is enabled or not, and returns everything about the run. Without an event's name it
// uses the first that the hook names, with an example of its payload. tool is the tool of data that is the arguments
// of a call alone, see match.Whole; "" = the tool that takes them.
func Try(
	ctx context.Context,
	d *dispatch.Dispatcher,
	from dispatch.Origin,
	h *hook.Hook,
	env events.Envelope,
	tool string,
) (wire.Tested, *wire.Error) {
	if env.Event == "" {
		env.Event = match.FirstEvent(h)
	}
	if _, short := match.Whole(env, tool); short || len(env.Data) == 0 || string(env.Data) == "{}" {
		env = match.Sample(h, env, tool)
	}
	t, err := d.Try(ctx, from, h, env)
	if err != nil {
		return wire.Tested{}, err
	}
	tested := wire.Tested{Run: t.Run, Verdict: t.Verdict, Why: t.Why, Decides: t.Blocks, Warning: t.Warning}
	if t.Job != nil {
		tested.Given, tested.Stdin = t.Job.Given, string(runner.Stdin(t.Job))
	}
	return tested, nil
}

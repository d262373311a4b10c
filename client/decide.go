package client

import (
	"context"
	"errors"
	"time"

	"github.com/hookd/hookd/internal/events"
)

// EmitWait sends one event and waits until its runs have ended. The answer
// has a Verdict, also for events that no hook can decide, and the Runs.
//
// ctx's deadline is the budget of the hooks too, unless ev.TimeoutMS says otherwise: at
// nine tenths of the budget, hooks that have not finished count as timed out, so that a
// verdict, which denies where failures deny, comes before the deadline does.
func (c *Client) EmitWait(ctx context.Context, ev Event) (Answer, error) {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	ev.Wait = true
	if ev.TimeoutMS == 0 {
		ev.TimeoutMS = budget(ctx)
	}
	return c.Emit(ctx, ev)
}

// Decide asks the hooks about ev and returns their joint verdict. With an error there
// is no verdict: whether that allows or denies is the caller's to say. A guard that
// crashed or was too slow is no error, but a verdict.
func (c *Client) Decide(ctx context.Context, ev Event) (Verdict, error) {
	answer, err := c.EmitWait(ctx, ev)
	if err != nil {
		return Verdict{}, err
	}
	if answer.Verdict == nil {
		return Verdict{}, errors.New("hookd answered without a verdict")
	}
	return *answer.Verdict, nil
}

// budget is nine tenths of the time until ctx's deadline, in milliseconds; 0
// when there is none, or when it is over and the call fails anyway.
func budget(ctx context.Context) int64 {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	left := min(time.Until(deadline)*9/10, events.MaxTimeout)
	return max(left.Milliseconds(), 0)
}

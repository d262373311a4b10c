package runner

import (
	"context"
	"errors"
	"time"

	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/wire"
)

// ErrFull is the error of a Fleet that has no room for an event now: the run stays in the
// queue.
var ErrFull = errors.New("too much waits for the fleet")

// send gives an event to the fleet, for a hook on other machines.
func (r *Runner) send(ctx context.Context, j *dispatch.Job) dispatch.JobResult {
	start := time.Now()
	out := dispatch.JobResult{Started: start, ExitCode: -1}
	if r.fleet == nil {
		out.Failure = "this machine is in no fleet any more"
		return out
	}
	ctx, cancel := context.WithTimeout(ctx, j.Timeout)
	defer cancel()
	err := r.fleet.Send(ctx, j)
	out.Duration = time.Since(start)
	switch {
	case err == nil:
		out.ExitCode, out.Stdout = 0, said("given to the fleet")
	case errors.Is(err, ErrFull), ctx.Err() != nil:
		out.Err, out.Short = err, true
	default:
		out.Failure = err.Error()
	}
	return out
}

func said(text string) wire.Output { return wire.Output{Head: text, Bytes: int64(len(text))} }

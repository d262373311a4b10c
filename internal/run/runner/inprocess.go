package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/builtin"
	"github.com/hookd/hookd/internal/hooks/judge"
	"github.com/hookd/hookd/internal/hooks/rules"
	"github.com/hookd/hookd/internal/proc"
)

// builtin runs a hook that is written in Go.
func (r *Runner) builtin(ctx context.Context, j *dispatch.Job) dispatch.JobResult {
	b, ok := builtin.Lookup(j.Hook.Command)
	if !ok {
		return dispatch.JobResult{
			Failure:  fmt.Sprintf("no builtin hook registered as %q", j.Hook.Command),
			ExitCode: -1,
			Started:  time.Now(),
		}
	}
	now := *j.Event
	now.Data = j.Data // as hooks before it have rewritten it
	call, env := dialect.Call(&now), r.hookEnvironment(j)
	lookup := func(name string) string { return variable(env, name) }
	return answered(ctx, j, func(ctx context.Context) ([]byte, error) {
		return b.Run(ctx, &builtin.Invocation{
			Event: j.Given, Payload: Stdin(j), Args: j.Hook.Args,
			Row: now.Contract, Data: now.Data, Canonical: dialect.Canonical(&now), Tool: call,
			Subject: func() *rules.Subject { _, s := r.subject(j, &now); return s },
			Cwd:     place(j, lookup), SessionID: j.Event.SessionID,
			Env: lookup, Environ: env, DataDir: r.dataDir, Steps: r.steps,
			Log: func(msg string, err error) {
				r.log.Warn(
					"built-in",
					zap.String("hook", j.Hook.Name),
					zap.String("what", msg),
					zap.String("run_id", j.RunID),
					zap.Error(err),
				)
			},
		})
	})
}

// hookEnvironment returns the inherited environment with the hook's own variables.
func (r *Runner) hookEnvironment(j *dispatch.Job) []string {
	l := &launch{settings: r.settings.Load(), job: j}
	l.own()
	return l.env
}

// model asks a language model.
func (r *Runner) model(ctx context.Context, j *dispatch.Job) dispatch.JobResult {
	h, payload := j.Hook, Stdin(j)
	tool := toolGiven(j, payload)
	return answered(ctx, j, func(ctx context.Context) ([]byte, error) {
		return r.settings.Load().judge.Ask(ctx, judge.Question{
			Event: j.Given, Payload: payload, ToolName: tool.Own, ToolInput: tool.Given,
			Model: h.Model, Prompt: h.Prompt, SystemPrompt: h.SystemPrompt, Schema: h.Schema,
		})
	})
}

// toolGiven returns the tool call in the payload of a hook, where the dialect of the
// event name that the hook gets has it.
func toolGiven(j *dispatch.Job, payload json.RawMessage) neutral.ToolCall {
	row := cmp.Or(events.LookupIn(j.Event.Contract.Dialect, j.Given), events.Lookup(j.Given), j.Event.Contract)
	given := events.Event{Contract: row}
	given.Envelope.Event, given.Dialect, given.Data = j.Given, row.Dialect, payload
	return dialect.Call(&given)
}

func judgeProviders(list map[string]config.Provider) map[string]judge.Provider {
	providers := map[string]judge.Provider{}
	for name, p := range list {
		providers[name] = judge.Provider{Type: p.Type, BaseURL: p.BaseURL, APIKeyEnv: p.APIKeyEnv}
	}
	return providers
}

// place returns the directory that a built-in works on: the configured one, else the
// event's cwd.
func place(j *dispatch.Job, lookup func(string) string) string {
	if j.Hook.WorkingDir == "" {
		return j.Event.Cwd
	}
	return j.Hook.RunDir(j.Event.Cwd, lookup)
}

// answered runs a hook inside the daemon, under the job's deadline. Its result is read
// like the stdout of a process.
func answered(ctx context.Context, j *dispatch.Job, run func(context.Context) ([]byte, error)) dispatch.JobResult {
	ctx, cancel := context.WithTimeout(ctx, j.Timeout)
	defer cancel()
	start := time.Now()
	stdout, err := run(ctx)
	out := dispatch.JobResult{Started: start, Duration: time.Since(start), Stdout: kept(proc.OutputOf(stdout))}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded): // also without an error: what it has may be a part
		out.TimedOut, out.ExitCode = true, -1
	case err == nil:
		out.Whole, out.Exceeded = stdout[:min(len(stdout), j.Whole)], len(stdout) > j.Whole
	default:
		out.Failure, out.ExitCode = err.Error(), -1
	}
	return out
}

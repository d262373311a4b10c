package daemon

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/judge"
	"github.com/hookd/hookd/internal/proc"
	"github.com/hookd/hookd/internal/signals"
	"github.com/hookd/hookd/internal/trust"
)

// runner executes jobs: it knows what each type of hook is started as and what
// it is given. It fits dispatch.Runner.
type runner struct {
	proc     *proc.Runner
	tempDir  string // private, for values that no environment variable holds
	dataDir  string // what built-ins keep
	log      *zap.Logger
	settings atomic.Pointer[settings]
	latest   latest // nil = a hook is what it was when its job was made
	kept     *persistent
}

// settings are what a reload can change.
type settings struct {
	env        []string // of every hook
	generation int      // changes with env
	agents     map[string]config.Agent
	trust      *trust.Checker // of what agents are started with
	judge      *judge.Judge
}

var _ dispatch.Submitter = (*runner)(nil)

func newRunner(p *proc.Runner, tempDir, dataDir string, log *zap.Logger) *runner {
	os.RemoveAll(tempDir) // what a killed predecessor left
	r := &runner{proc: p, tempDir: tempDir, dataDir: dataDir, log: log.Named("runner")}
	r.kept = newPersistent(r)
	return r
}

// configure puts settings into force for the runs that start from now on.
func (r *runner) configure(c config.Config) {
	env := inherited(c.Env, c.Path)
	next := &settings{env: env, agents: c.Agents, trust: trust.New(), judge: judge.New(judge.Options{
		Providers: judgeProviders(c.Providers),
		Getenv:    func(name string) string { return variable(env, name) },
	})}
	old := r.settings.Load()
	if old != nil {
		next.generation = old.generation
		if !slices.Equal(old.env, env) {
			next.generation++
		}
	}
	if r.settings.Store(next); old != nil {
		old.judge.Close()
		r.kept.renew()
	}
}

// inherited is the environment of all hooks: the daemon's own less what belongs
// to its service manager, then the settings.
func inherited(env map[string]string, path string) []string {
	base := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(signals.ServiceVariables, name)
	})
	for _, name := range slices.Sorted(maps.Keys(env)) { // in order: a change of it ends what is kept
		base = setVariable(base, name, env[name])
	}
	if path != "" {
		base = setVariable(base, "PATH", path)
	}
	return base
}

// Run executes the job and waits for its end. A hook whose files others could
// have changed does not start.
func (r *runner) Run(ctx context.Context, j *dispatch.Job) dispatch.Outcome {
	if j.Hook.Persistent {
		return r.kept.run(ctx, j)
	}
	h, err := r.admit(j.Hook)
	if err != nil {
		return dispatch.Outcome{Err: err, ExitCode: -1, Started: time.Now()}
	}
	if h != j.Hook {
		now := *j
		now.Hook, j = h, &now
	}
	switch j.Hook.Type {
	case hook.Builtin:
		return r.builtin(ctx, j)
	case hook.Model:
		return r.model(ctx, j)
	default:
		return r.process(ctx, j)
	}
}

// Submit gives the job of a persistent hook to its process.
func (r *runner) Submit(ctx context.Context, j *dispatch.Job, done func(dispatch.Outcome)) {
	r.kept.submit(ctx, j, done)
}

// process starts the job's process and waits for it.
func (r *runner) process(ctx context.Context, j *dispatch.Job) dispatch.Outcome {
	p := &launch{settings: r.settings.Load(), job: j, dir: r.tempDir}
	defer p.cleanup()
	if err := p.prepare(); err != nil {
		return dispatch.Outcome{Err: err, ExitCode: -1, Started: time.Now()}
	}
	if len(p.unknown) > 0 {
		r.log.Warn("variables that the event does not have are empty", zap.String("hook", j.Hook.Name), zap.Strings("variables", p.unknown), zap.String("run_id", j.RunID))
	}
	j.Starting()
	out := outcome(r.proc.Run(ctx, proc.Spec{
		Path: p.path, Args: p.args, Env: p.env, Dir: j.Hook.RunDir(eventDir(j), p.variable),
		Stdin:   p.stdin,
		Timeout: j.Timeout, TermBefore: j.Hook.TermBefore, Whole: j.Whole,
		Started: func(p proc.Process) { j.Started(dispatch.Process{PID: p.PID, Cgroup: p.Cgroup}) },
	}))
	out.Whole = unaddressed(out.Whole, j.Event.EventID)
	return out
}

func outcome(x proc.Exit) dispatch.Outcome {
	out := dispatch.Outcome{
		ExitCode: x.Code, Signal: x.Signal, TimedOut: x.TimedOut, Killed: x.Killed, Left: x.Left,
		Started: x.Start, Duration: x.Duration,
		Stdout: kept(x.Stdout), Stderr: kept(x.Stderr), Whole: x.Whole, Exceeded: x.WholeExceeded,
	}
	if x.Err != nil {
		out.Err = x.Err
	}
	if x.Late != nil {
		out.Late = func() (stdout, stderr events.Output) {
			o, e := x.Late()
			return kept(o), kept(e)
		}
	}
	return out
}

func kept(o proc.Output) events.Output {
	return events.Output{Head: string(o.Head), Tail: string(o.Tail), Bytes: o.Bytes}
}

// Package runner executes one run: it checks whether the hook's files may be started,
// builds the input for the hook's type (environment, stdin, template values), and
// passes it to a process (proc), a worker of a persistent hook (worker), a built-in
// or a model (judge). The result is always a JobResult: no error of a hook leaves this
// package in another form.
//
// Run blocks until the run has ended, which is at its deadline at the latest; Submit
// does not block. The package does not match, order or record: dispatch does.
package runner

import (
	"cmp"
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/hooks/builtin"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/judge"
	"github.com/hookd/hookd/internal/proc"
	"github.com/hookd/hookd/internal/run/worker"
	"github.com/hookd/hookd/internal/signals"
	"github.com/hookd/hookd/wire"
)

// Runner executes jobs. It fits dispatch.Runner, dispatch.Submitter and dispatch.Killer.
type Runner struct {
	proc    *proc.Runner
	tempDir string
	dataDir string
	fleet   Fleet
	sight
	log      *zap.Logger
	settings atomic.Pointer[settings]
	inForce  InForce
	kept     *persistent
	shortage shortage
	undoable func(*events.Event, *facts.Effect) bool // see Options
	steps    builtin.Steps
}

// Options of a Runner. A field is required if it does not say what nil means.
type Options struct {
	Proc    *proc.Runner
	TempDir string        // private, for values too long for an environment variable; New empties it
	DataDir string        // where built-ins store data
	Steps   builtin.Steps // nil = nothing is recorded for `hookd undo`
	Log     *zap.Logger
	Fleet   Fleet // nil = the machine is in no fleet

	Facts *facts.Reader // of calls, for rules; nil = one without links and guards
	// Undoable reports whether an effect of a call can be taken back; nil = none can.
	Undoable func(e *events.Event, of *facts.Effect) bool
	Project  func(folder string) string // root of the repository of a folder, "" = none; nil = not known
}

// Fleet takes events for hooks on other machines.
type Fleet interface {
	// Send keeps the event of a job until the servers of the fleet have it. ErrFull says
	// that there is no room for it now.
	Send(ctx context.Context, j *dispatch.Job) error
}

// settings are the values that a reload can change.
type settings struct {
	env        []string // of every hook
	keys       []string // of models: for hooks that name them, see launch.own
	generation int      // changes with env
	system     bool     // of the system daemon: hooks get who sent an event
	agents     map[string]config.Agent
	trust      *trust.Checker // of what agents are started with
	judge      *judge.Judge
}

var (
	_ dispatch.Submitter = (*Runner)(nil)
	_ dispatch.Killer    = (*Runner)(nil)
)

// New returns a Runner. Configure must be called before the first run.
func New(o Options) *Runner {
	os.RemoveAll(o.TempDir) // what a killed predecessor left
	r := &Runner{proc: o.Proc, tempDir: o.TempDir, dataDir: o.DataDir, steps: o.Steps, fleet: o.Fleet,
		log: o.Log.Named("runner"), sight: sight{o.Facts, o.Project}, undoable: o.Undoable}
	if r.facts == nil {
		home, _ := os.UserHomeDir() // without one, ~ stays in targets
		r.facts = &facts.Reader{Home: home}
	}
	r.kept = newPersistent(r)
	return r
}

// UseInForce makes each run start with the version of its hook that inForce returns;
// without it a run uses the version that its job has. Call it before the first run.
func (r *Runner) UseInForce(inForce InForce) { r.inForce = inForce }

// Track sets functions to call for each worker: starting before it is started,
// joined when it runs. Call it before the first run.
func (r *Runner) Track(starting func() (known func()), joined Joined) {
	r.kept.starting, r.kept.joined = starting, joined
}

// Retain drains the workers of all persistent hooks but these. It is called with each
// new snapshot.
func (r *Runner) Retain(hooks []*hook.Hook) { r.kept.retain(hooks) }

// Workers returns the workers of a persistent hook that live, and how many were
// started.
func (r *Runner) Workers(h *hook.Hook) (list []wire.Worker, starts int) {
	return r.kept.workers.Workers(r.kept.key(h))
}

// Alive returns how many workers of all hooks live.
func (r *Runner) Alive() int { return r.kept.workers.Alive() }

// Path returns the PATH that hooks are given.
func (r *Runner) Path() string { return variable(r.settings.Load().env, "PATH") }

// TempDir returns the folder of files that live as long as a run.
func (r *Runner) TempDir() string { return r.tempDir }

// Close drains all workers until ctx ends, then kills them.
func (r *Runner) Close(ctx context.Context) { r.kept.workers.Close(ctx) }

// Configure puts settings into force for the runs that start from now on.
func (r *Runner) Configure(c config.Config) {
	all, left := inherited(c.Env, c.Path, c.ReloadMode == "ask")
	for _, bad := range left {
		r.log.Warn("a folder is left out of the PATH of hooks", zap.String("why", bad.Error()))
	}
	providers := judgeProviders(c.Providers)
	env, keys := withoutKeys(all, judge.KeyVariables(providers), c.Env)
	next := &settings{env: env, keys: keys, agents: c.Agents, system: c.System, trust: c.Checker()}
	next.judge = judge.New(judge.Options{
		Providers: providers,
		Getenv:    func(name string) string { return variable(all, name) },
	})
	old := r.settings.Load()
	if old != nil {
		next.generation = old.generation
		if !slices.Equal(old.env, env) || !slices.Equal(old.keys, keys) {
			next.generation++
		}
	}
	if r.settings.Store(next); old != nil {
		old.judge.Close()
		r.kept.renew()
	}
}

// withoutKeys splits an environment: the keys of models apart from the rest, except for
// keys that the settings give to all hooks.
func withoutKeys(all, names []string, given map[string]string) (env, keys []string) {
	for _, v := range all {
		name, _, _ := strings.Cut(v, "=")
		if _, named := given[name]; !named && slices.Contains(names, name) {
			keys = append(keys, v)
			continue
		}
		env = append(env, v)
	}
	return env, keys
}

// inherited returns the environment of all hooks: the daemon's own without its
// service manager's variables, then the settings. Where hooks wait to be allowed, no
// variable that loads code comes from hookd's own environment, which was never allowed.
func inherited(env map[string]string, path string, asks bool) (base []string, left []trust.Refusal) {
	base = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(signals.ServiceVariables, name) || asks && trust.LoadsCode(name)
	})
	for _, name := range slices.Sorted(maps.Keys(env)) { // in order: a change of it restarts workers
		base = setVariable(base, name, env[name])
	}
	if path != "" {
		base = setVariable(base, "PATH", path)
	}
	path = variable(base, "PATH")
	safe, left := trust.SafePath(path)
	if safe != path {
		base = setVariable(base, "PATH", safe)
	}
	return base, left
}

// Run executes the job and waits for its end. A hook whose files others could
// have changed does not start.
func (r *Runner) Run(ctx context.Context, j *dispatch.Job) dispatch.JobResult {
	r.withFacts(j)
	if j.Hook.Persistent {
		return r.kept.run(ctx, j)
	}
	if j.Hook.Type == hook.Send {
		j.Inside()
		return r.send(ctx, j)
	}
	until := time.Now().Add(j.Timeout)
	for try := 0; ; try++ {
		out := r.attempt(ctx, j)
		left := time.Until(until)
		if !out.again || try == startTries || left <= 0 || ctx.Err() != nil {
			return out.JobResult
		}
		next := *j
		next.Timeout, j = left, &next
	}
}

// attempted is the outcome of one start. again is set when the hook was saved while it ran:
// then the saved version is to run.
type attempted struct {
	dispatch.JobResult
	again bool
}

// attempt executes the version of the job's hook that is there now, once.
func (r *Runner) attempt(ctx context.Context, j *dispatch.Job) attempted {
	a, err := r.startable(j.Hook, j.Looks)
	if err != nil {
		return attempted{JobResult: dispatch.JobResult{Err: err, ExitCode: -1, Started: time.Now()}}
	}
	if a.hook != j.Hook {
		now := *j
		now.Hook, j = a.hook, &now
	}
	switch j.Hook.Type {
	case hook.Builtin:
		j.Inside()
		return attempted{JobResult: r.builtin(ctx, j)}
	case hook.Model:
		j.Inside()
		return attempted{JobResult: r.model(ctx, j)}
	case hook.Rules:
		j.Inside()
		return attempted{JobResult: r.rules(ctx, j)}
	}
	out, err := r.process(ctx, j, a)
	out.Version = a.hook.Digest
	if err != nil {
		out.Err, out.Failure, out.Whole, out.ExitCode = err, "", nil, -1
		return attempted{JobResult: out, again: a.look.MayBeSaved()}
	}
	return attempted{JobResult: out}
}

// Settings returns the generation of the settings that workers are started with.
func (r *Runner) Settings() int { return r.settings.Load().generation }

// Submit gives the job of a persistent hook to its process.
func (r *Runner) Submit(ctx context.Context, j *dispatch.Job, done func(dispatch.JobResult)) {
	r.kept.submit(ctx, j, done)
}

// Kill ends the job of a persistent hook by killing the worker that has it. It fits
// dispatch.Killer.
func (r *Runner) Kill(j *dispatch.Job) bool { return r.kept.kill(j) }

// process starts the job's process and waits for it. The error refuses it: its files were
// other ones for a moment. Those of a hook whose answer nothing waits for are looked at again
// once it has started: it may run for long, and be saved meanwhile.
func (r *Runner) process(ctx context.Context, j *dispatch.Job, a checkedHook) (_ dispatch.JobResult, refused error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	p := &launch{settings: r.settings.Load(), job: j, dir: r.tempDir}
	defer p.cleanup()
	j.Looks(j.Place)
	if err := p.prepare(); err != nil {
		return dispatch.JobResult{Err: err, Short: proc.Short(err), ExitCode: -1, Started: time.Now()}, nil
	}
	if len(p.unknown) > 0 {
		r.log.Warn(
			"variables that the event does not have are empty",
			zap.String("hook", j.Hook.Name),
			zap.Strings("variables", p.unknown),
			zap.String("run_id", j.RunID),
		)
	}
	dir := j.Hook.RunDir(j.Place, p.variable)
	if err := p.trustIn(dir); err != nil {
		return dispatch.JobResult{Err: err, ExitCode: -1, Started: time.Now()}, nil
	}
	confirm := func() error {
		err := a.confirm(j.Looks)
		for _, look := range p.looks {
			err = cmp.Or(err, checkedHook{look: look}.confirm(j.Looks))
		}
		return err
	}
	j.Starting()
	out := outcome(r.start(ctx, j, proc.Spec{
		Path: p.path, Args: p.args, Env: p.env, Dir: dir, As: as(j.Hook),
		Stdin:   p.stdin,
		Timeout: j.Timeout, TermBefore: j.Hook.TermBefore, Whole: j.Whole, Latest: j.Latest, Looks: j.Looks,
		Started: func(started proc.Process) {
			j.Started(dispatch.Process{PID: started.PID, Cgroup: started.Cgroup})
			if !j.Awaited {
				if refused = confirm(); refused != nil {
					end()
				}
			}
		},
	}))
	if j.Awaited && out.Err == nil {
		refused = confirm()
	}
	out.Whole = withoutEventID(out.Whole, j.Event.EventID)
	if out.ExitCode == 0 && out.Failure == "" && out.Err == nil {
		out.Failure = failed(out.Whole)
	}
	return out, refused
}

// start runs a process. While the system is short of processes it retries a run that
// a sender waits for, until its deadline; dispatch requeues others.
func (r *Runner) start(ctx context.Context, j *dispatch.Job, s proc.Spec) proc.Exit {
	for {
		x := r.proc.Run(ctx, s)
		if !proc.Short(x.Err) {
			return x
		}
		r.shortage.note(r.log, x.Err)
		late := !j.Awaited || time.Until(j.Latest) < worker.ShortPause
		if late || !pause.For(worker.ShortPause, ctx.Done()) {
			return x
		}
	}
}

// shortage logs that processes cannot be started, at most once in shortageEvery.
type shortage struct {
	mu     sync.Mutex
	logged time.Time
	times  int // since then
}

const shortageEvery = 10 * time.Second

func (s *shortage) note(log *zap.Logger, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times++
	if now := time.Now(); now.Sub(s.logged) >= shortageEvery {
		log.Warn("no process can be started now, runs are retried", zap.Error(err), zap.Int("starts", s.times))
		s.logged, s.times = now, 0
	}
}

func outcome(x proc.Exit) dispatch.JobResult {
	out := dispatch.JobResult{
		ExitCode: x.Code, Signal: x.Signal, TimedOut: x.TimedOut, Killed: x.Killed, Left: x.Left,
		Started: x.Start, Duration: x.Duration,
		Stdout: kept(x.Stdout), Stderr: kept(x.Stderr), Whole: x.Whole, Exceeded: x.WholeExceeded,
	}
	if x.Err != nil {
		out.Err, out.Short = x.Err, proc.Short(x.Err)
	}
	if x.Late != nil {
		out.Late = func() (stdout, stderr wire.Output) {
			o, e := x.Late()
			return kept(o), kept(e)
		}
	}
	return out
}

func kept(o proc.Output) wire.Output {
	return wire.Output{Head: string(o.Head), Tail: string(o.Tail), Bytes: o.Bytes}
}

package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/proc"
	"github.com/hookd/hookd/internal/run/worker"
)

// Joined is called when a worker of the hook with the id has started. Events that it
// sends have depth() + 1. left is called when the worker has ended.
type Joined func(hook string, p dispatch.Process, depth func() int) (left func())

// persistent runs the jobs of persistent hooks.
type persistent struct {
	r       *Runner
	workers *worker.Set
	stopped sync.Once // see abortAfter

	// starting is called before a worker is started, joined after that.
	starting func() (known func())
	joined   Joined

	mu    sync.Mutex   // guards what is below
	hooks []*hook.Hook // in force; nil = not known yet
}

func newPersistent(r *Runner) *persistent {
	nothing := func() {}
	p := &persistent{
		r:        r,
		starting: func() func() { return nothing },
		joined:   func(string, dispatch.Process, func() int) func() { return nothing },
	}
	p.workers = worker.New(worker.Options{
		Proc: r.proc, Log: r.log, Short: func(err error) { r.shortage.note(r.log, err) },
		Starting: func() func() { return p.starting() },
		Joined: func(id string, started proc.Process, depth func() int) func() {
			return p.joined(id, dispatch.Process{PID: started.PID, Cgroup: started.Cgroup}, depth)
		},
	})
	return p
}

// run sends the job to a worker and waits for the answer.
func (p *persistent) run(ctx context.Context, j *dispatch.Job) dispatch.JobResult {
	c := call(j)
	if j.Awaited {
		return outcomeOf(j, p.pool(j.Hook).Ask(ctx, c))
	}
	p.abortAfter(ctx)
	done := make(chan worker.Response, 1)
	c.Done = func(a worker.Response) { done <- a }
	p.pool(j.Hook).Submit(c)
	return outcomeOf(j, <-done)
}

// submit queues the job for a worker, and calls done with the outcome. It does not
// block.
func (p *persistent) submit(ctx context.Context, j *dispatch.Job, done func(dispatch.JobResult)) {
	p.abortAfter(ctx)
	c := call(j)
	c.Done = func(a worker.Response) { done(outcomeOf(j, a)) }
	p.poolWith(j.Settings, j.Hook).Submit(c)
}

// kill ends the job; false when no worker has it or is about to get it.
func (p *persistent) kill(j *dispatch.Job) bool { return p.workers.Cancel(j.Hook.ID, j.Event.EventID) }

// abortAfter kills the workers that owe an answer when ctx ends. All runs that no sender
// waits for have the same ctx, which ends when the daemon stops.
func (p *persistent) abortAfter(ctx context.Context) {
	p.stopped.Do(func() { context.AfterFunc(ctx, p.workers.Abort) })
}

// pool returns the workers of h under the current settings.
func (p *persistent) pool(h *hook.Hook) *worker.Pool { return p.poolWith(p.r.Settings(), h) }

// poolWith returns the workers of h that are for a generation of settings. A worker that starts
// when there are newer ones starts with those.
func (p *persistent) poolWith(settings int, h *hook.Hook) *worker.Pool {
	return p.workers.Pool(worker.Key{ID: h.ID, Digest: h.Digest, Settings: settings}, func() worker.Startup {
		return worker.Startup{
			Name:    h.Name,
			Workers: h.Concurrency,
			Start:   func(looks func(string)) (worker.Start, error) { return p.start(h, looks) },
		}
	})
}

func (p *persistent) key(h *hook.Hook) worker.Key {
	return worker.Key{ID: h.ID, Digest: h.Digest, Settings: p.r.Settings()}
}

// retain drains the workers of all hooks but these.
func (p *persistent) retain(hooks []*hook.Hook) {
	p.mu.Lock()
	defer p.mu.Unlock()
	current := map[worker.Key]bool{}
	p.hooks = []*hook.Hook{}
	for _, h := range hooks {
		if h.Persistent {
			p.hooks = append(p.hooks, h)
			current[p.key(h)] = true
		}
	}
	p.workers.Retain(func(k worker.Key) bool { return current[k] })
	for _, h := range p.hooks {
		if h.IsWarm() && h.Enabled {
			p.pool(h).Warm(h.WouldGuard())
		}
	}
}

// renew drains the workers that were started with other settings.
func (p *persistent) renew() {
	p.mu.Lock()
	hooks := p.hooks
	p.mu.Unlock()
	if hooks != nil {
		p.retain(hooks)
	}
}

// start returns the process of a worker of h. Its environment has no event, because it
// serves many.
func (p *persistent) start(h *hook.Hook, looks func(path string)) (worker.Start, error) {
	a, err := p.r.startable(h, looks)
	if err != nil {
		return worker.Start{}, err
	}
	h = a.hook
	l := &launch{settings: p.r.settings.Load(), job: &dispatch.Job{Hook: h, Event: &events.Event{}}}
	l.own()
	l.program(h.ScriptText)
	env := slices.DeleteFunc(l.env, func(v string) bool { return strings.HasPrefix(v, "HOOK_EVENT") })
	return worker.Start{
		Spec:    proc.Spec{Path: l.path, Args: l.args, Env: env, Dir: h.RunDir("", l.variable), As: as(h)},
		Version: h.Digest, Again: a.look.MayBeSaved(),
		Confirm: func() error { return a.confirm(func(string) {}) },
	}, nil
}

var lineEnd = []byte{'\n'}

// call returns the job as one line.
func call(j *dispatch.Job) *worker.Request {
	line := bytes.Join(append(stdinParts(j), lineEnd), nil)
	for rest := line[:len(line)-1]; ; { // between the values of a payload; a string has none
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			break
		}
		rest[i] = ' '
		rest = rest[i+1:]
	}
	return &worker.Request{
		ID:      j.Event.EventID,
		Line:    line,
		Timeout: j.Timeout,
		Limit:   j.Whole,
		Depth:   j.Event.Depth,
	}
}

// outcomeOf returns an answer as the outcome of a run. The answer without its
// event_id counts as the stdout of an exit 0.
func outcomeOf(j *dispatch.Job, a worker.Response) dispatch.JobResult {
	out := dispatch.JobResult{
		Err: a.Err, Version: a.Version, TimedOut: a.TimedOut, Stalled: a.Stalled, Failure: a.Failure,
		ExitCode: a.Exit.Code, Signal: a.Exit.Signal, Killed: a.Exit.Killed, Left: a.Exit.Left,
		Started: a.Started, Duration: a.Duration, Stderr: kept(a.Stderr),
	}
	switch {
	case a.Err != nil:
		out.ExitCode, out.Started, out.Short = -1, time.Now(), proc.Short(a.Err)
	case a.TimedOut:
		out.ExitCode, out.Failure = -1, ""
	case a.Failure != "" && out.ExitCode == 0:
		out.ExitCode = -1
	case a.Body != nil:
		out.Stdout = kept(proc.OutputOf(a.Body))
		out.Whole, out.Exceeded = a.Body[:min(len(a.Body), j.Whole)], len(a.Body) > j.Whole && j.Whole > 0
		out.Failure = failed(a.Body)
	}
	return out
}

// failed returns why the hook says that it failed with one event: the answer is
// hook_failed and nothing else. Its process goes on, for the events after it. "" = it
// does not say so.
func failed(body json.RawMessage) string {
	why, ok := rawjson.GetString(body, "hook_failed")
	if !ok || rawjson.Without(body, "hook_failed") != nil {
		return ""
	}
	return "answered that it failed: " + escape.Line(why, failedBytes)
}

// failedBytes is how much of a hook's own word for its failure is kept.
const failedBytes = 300

// withoutEventID removes the event_id of an answer: a program that can also be a
// worker sends it. An object with a hook_event_name is no answer but the payload, the
// output of a filter, and stays as it is.
func withoutEventID(whole []byte, eventID string) []byte {
	if !bytes.Contains(whole, []byte(eventID)) || !json.Valid(whole) {
		return whole
	}
	if id, _ := rawjson.GetString(whole, "event_id"); id != eventID || rawjson.Get(whole, "hook_event_name") != nil {
		return whole
	}
	if rest := rawjson.Without(whole, "event_id"); rest != nil {
		return rest
	}
	return []byte("{}")
}

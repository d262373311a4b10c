package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	dialect "github.com/hookd/hookd/internal/dialect/dockeragent"
	"github.com/hookd/hookd/internal/dialect/librefang"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/proc"
	"github.com/hookd/hookd/internal/signals"
	"github.com/hookd/hookd/internal/source/dockeragent"
)

// runner executes jobs as processes. It fits dispatch.Runner.
type runner struct {
	proc    *proc.Runner
	tempDir string                   // private, for payloads that no environment variable holds
	base    atomic.Pointer[[]string] // environment of every hook
}

var _ dispatch.Runner = (*runner)(nil)

func newRunner(p *proc.Runner, tempDir string) *runner {
	os.RemoveAll(tempDir) // what a killed predecessor left
	return &runner{proc: p, tempDir: tempDir}
}

// setEnvironment makes the environment that all hooks inherit: the daemon's
// own less what belongs to its service manager, then the settings.
func (r *runner) setEnvironment(env map[string]string, path string) {
	base := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(signals.ServiceVariables, name)
	})
	for name, value := range env {
		base = setVariable(base, name, value)
	}
	if path != "" {
		base = setVariable(base, "PATH", path)
	}
	r.base.Store(&base)
}

// Run starts the job's process and waits for it.
func (r *runner) Run(ctx context.Context, j *dispatch.Job) dispatch.Outcome {
	base := *r.base.Load()
	lookup := func(name string) string { return variable(base, name) }
	env, cleanup, err := r.environment(j, base, lookup)
	if err != nil {
		return dispatch.Outcome{Err: err, ExitCode: -1, Started: time.Now()}
	}
	defer cleanup()
	path, args := program(j.Hook)
	exit := r.proc.Run(ctx, proc.Spec{
		Path: path, Args: args, Env: env, Dir: j.Hook.RunDir(j.Event.Cwd, lookup),
		Stdin:   append(stdin(j), '\n'),
		Timeout: j.Timeout, TermBefore: j.Hook.TermBefore, Whole: j.Whole,
		Started: func(p proc.Process) { j.Started(dispatch.Process{PID: p.PID, Cgroup: p.Cgroup}) },
	})
	return outcome(exit)
}

func program(h *hook.Hook) (path string, args []string) {
	if h.Type == hook.Script {
		return cmp.Or(h.Shell, "/bin/sh"), []string{"-c", h.ScriptText}
	}
	return h.Path, h.Args
}

// payload is the event's data in the shape that the hook's source documents.
func payload(j *dispatch.Job) json.RawMessage {
	switch j.Hook.Source.Type {
	case dockeragent.SourceType, dockeragent.FlagSourceType:
		return dialect.Payload(j.Payload)
	}
	return j.Payload
}

// stdin is the object that the process reads: the payload and what hookd knows.
func stdin(j *dispatch.Job) []byte {
	data := payload(j)
	members := []events.Member{
		events.StringMember("hook_event_name", j.Given),
		events.StringMember("event_id", j.Event.EventID),
	}
	for _, m := range []events.Member{
		events.StringMember("session_id", j.Event.SessionID),
		events.StringMember("cwd", cwd(j)),
		events.StringMember("timestamp", j.Event.Time.Format(time.RFC3339Nano)),
	} {
		if events.Get(data, m.Key) == nil {
			members = append(members, m)
		}
	}
	return events.With(data, members...)
}

// cwd is the event's; docker-agent's hooks are told where they run when the
// event has none, as that system does (reference/docker-agent.md 3.1).
func cwd(j *dispatch.Job) string {
	if j.Event.Cwd == "" && j.Hook.InEventCwd {
		return j.Hook.Dir
	}
	return j.Event.Cwd
}

// environment adds the hook's variables and the two (or three) of the event.
// cleanup removes the payload's file once the run is over.
func (r *runner) environment(j *dispatch.Job, base []string, lookup func(string) string) (env []string, cleanup func(), err error) {
	env = slices.Clone(base)
	for _, v := range j.Hook.Environ(lookup) {
		name, value, _ := strings.Cut(v, "=")
		env = setVariable(env, name, value)
	}
	data, truncated := librefang.EventData(payload(j), librefang.EventDataLimit)
	env = setVariable(env, "HOOK_EVENT", j.Given)
	env = setVariable(env, "HOOK_EVENT_DATA", data)
	if !truncated {
		return env, func() {}, nil
	}
	file, err := r.writePayload(j)
	if err != nil {
		return nil, nil, err
	}
	return setVariable(env, "HOOK_EVENT_DATA_FILE", file), func() { os.Remove(file) }, nil
}

func (r *runner) writePayload(j *dispatch.Job) (string, error) {
	if err := os.MkdirAll(r.tempDir, 0o700); err != nil {
		return "", err
	}
	name := filepath.Join(r.tempDir, j.RunID+".json")
	if err := os.WriteFile(name, payload(j), 0o600); err != nil {
		return "", errors.Join(err, os.Remove(name))
	}
	return name, nil
}

func setVariable(env []string, name, value string) []string {
	for i, v := range env {
		if strings.HasPrefix(v, name) && len(v) > len(name) && v[len(name)] == '=' {
			env[i] = name + "=" + value
			return env
		}
	}
	return append(env, name+"="+value)
}

func variable(env []string, name string) string {
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
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

package runner

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/proc"
)

// launch has the program, environment and stdin of one process.
type launch struct {
	settings *settings
	job      *dispatch.Job
	dir      string // for files

	path    string
	args    []string
	env     []string
	stdin   [][]byte
	files   map[string]string // written for the run and removed after it, with their sums
	unknown []string          // template variables that the event does not have
	looks   []*trust.Look     // at files that no hook's seal covers
}

func (l *launch) prepare() error { return cmp.Or(l.fill(), l.sealFiles()) }

// sealFiles looks at the files that were written for the run: if another process changes one, the
// answer is about another event.
func (l *launch) sealFiles() error {
	if len(l.files) == 0 {
		return nil
	}
	paths := slices.Sorted(maps.Keys(l.files))
	seal := trust.New().Seal(trust.Files{Read: paths, Own: paths, Contents: true})
	look, err := lookWhenOld(l.job.Hook, seal, func(string) {})
	if err == nil && !maps.Equal(seal.Contents(), l.files) {
		err = &trust.Swapped{Path: paths[0]}
	}
	if err != nil {
		return fmt.Errorf("refused: %w", err)
	}
	l.looks = append(l.looks, look)
	return nil
}

func (l *launch) fill() error {
	if err := l.environment(); err != nil {
		return err
	}
	l.stdin = append(stdinParts(l.job), []byte{'\n'})
	h := l.job.Hook
	text := h.ScriptText
	if h.Template != nil {
		var err error
		if text, err = l.bind(h.Template); err != nil {
			return err
		}
	}
	if h.Type == hook.Spawn {
		return l.agent(text)
	}
	l.program(text)
	return nil
}

// program sets the program: the hook's command, or the shell with its script.
func (l *launch) program(script string) {
	h := l.job.Hook
	if h.Type == hook.Script {
		l.path, l.args = cmp.Or(h.Shell, "/bin/sh"), []string{"-c", script}
		return
	}
	l.path, l.args = h.Path, h.Args
}

// trustIn checks the files that a hook names by relative paths, if the event chooses the
// directory that it runs in: its seal covers only the directory without an event.
func (l *launch) trustIn(dir string) error {
	if !l.job.Hook.InEventCwd || dir == l.job.Hook.RunDir("", l.variable) {
		return nil
	}
	look, err := trusted(l.settings.trust, trust.Launch{
		Program: l.path, Args: l.args, Dir: dir, Path: l.variable("PATH"), Home: l.variable("HOME"),
		Env: l.job.Hook.Environ(l.variable),
	})
	l.looks = append(l.looks, look)
	return err
}

// environment sets the environment: the inherited one, the hook's variables, and the two
// (or three) of the event.
func (l *launch) environment() error {
	l.own()
	data, truncated := dialect.EventData(payload(l.job))
	l.env = setVariable(l.env, "HOOK_EVENT", l.job.Given)
	l.env = setVariable(l.env, "HOOK_EVENT_DATA", data)
	l.peer()
	if !truncated || l.job.Hook.RunAs != nil { // another user cannot read the daemon's files; stdin has it all
		return nil
	}
	return l.file("HOOK_EVENT_DATA_FILE", ".json", payload(l.job))
}

// peer sets the variables of the process that sent an event of the system daemon.
func (l *launch) peer() {
	var peer events.Peer
	said := rawjson.Get(l.job.Payload, events.PeerKey)
	if !l.settings.system || said == nil || json.Unmarshal(said, &peer) != nil {
		return
	}
	l.env = setVariable(l.env, "HOOKD_PEER_UID", strconv.Itoa(peer.UID))
	l.env = setVariable(l.env, "HOOKD_PEER_PID", strconv.Itoa(peer.PID))
	l.env = setVariable(l.env, "HOOKD_PEER_PROGRAM", peer.Program)
}

// own sets the environment with the hook's own variables. Hooks do not inherit the keys
// of models: a hook that needs a key names it, ${env.OPENAI_API_KEY}. Another agent that is
// started uses models, and gets all keys.
func (l *launch) own() {
	l.env = slices.Clone(l.settings.env)
	if l.job.Hook.Type == hook.Spawn {
		l.env = append(l.env, l.settings.keys...)
	}
	// A file that Python left in the folder would be a change of the hook; one of a
	// repository may be tried before it is trusted.
	if h := l.job.Hook; h.Layer.Sealed() || strings.Contains(h.Dir, "/.hookd/hooks/") {
		l.env = setVariable(l.env, "PYTHONDONTWRITEBYTECODE", "1")
	}
	if as := l.job.Hook.RunAs; as != nil {
		l.env = setVariable(setVariable(l.env, "HOME", as.Home), "USER", as.Name)
		l.env = setVariable(l.env, "LOGNAME", as.Name)
	}
	lookup := func(name string) string { return cmp.Or(l.variable(name), variable(l.settings.keys, name)) }
	for _, v := range l.job.Hook.Environ(lookup) {
		name, value, _ := strings.Cut(v, "=")
		l.env = setVariable(l.env, name, value)
	}
}

// bind binds a template to the event's values: they reach a script through variables and
// files only, never as shell text.
func (l *launch) bind(t hook.Template) (text string, err error) {
	j := l.job
	bound, err := t.Bind(j.Rules.Variables(j.Event, j.Given, j.Payload, j.Output))
	if err != nil {
		return "", err
	}
	l.unknown = bound.Unknown
	for _, v := range bound.Env {
		name, value, _ := strings.Cut(v, "=")
		l.env = setVariable(l.env, name, value)
	}
	for _, f := range bound.Files {
		if err := l.file(f.Env, "-"+f.Env, f.Content); err != nil {
			return "", err
		}
	}
	return bound.Text, nil
}

// as is the user that the process runs as; nil = the daemon's own.
func as(h *hook.Hook) *proc.User {
	if h.RunAs == nil {
		return nil
	}
	return &proc.User{UID: h.RunAs.UID, GID: h.RunAs.GID, Groups: h.RunAs.Groups}
}

// agent prepares the start of another agent with a prompt, by the command of its name in
// the settings.
func (l *launch) agent(prompt string) error {
	name := l.job.Hook.SpawnAgent
	a, ok := l.settings.agents[name]
	if !ok {
		a, ok = l.settings.agents["default"]
	}
	if !ok {
		return fmt.Errorf("no runner for agent %q: name its command under agents: in hookd.yaml", name)
	}
	path, err := lookPath(a.Command[0], l.variable("PATH"))
	if err != nil {
		return fmt.Errorf("start agent %q: %w", name, err)
	}
	dir := l.job.Hook.RunDir(l.job.Event.Cwd, l.variable)
	what := trust.Launch{Program: path, Args: a.Command[1:], Dir: dir, Path: l.variable("PATH")}
	look, err := trusted(l.settings.trust, what)
	if err != nil {
		return fmt.Errorf("start agent %q: %w", name, err)
	}
	l.looks = append(l.looks, look)
	l.path, l.args, l.stdin = path, slices.Clone(a.Command[1:]), nil
	if a.Prompt == "arg" {
		l.args = append(l.args, prompt)
	} else {
		l.stdin = [][]byte{[]byte(prompt)}
	}
	return nil
}

// lookPath finds a program in the PATH of hooks, not in the daemon's.
func lookPath(name, path string) (string, error) {
	if strings.Contains(name, "/") {
		return filepath.Abs(name)
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if fi, err := os.Stat(file); err == nil && filepath.IsAbs(file) && !fi.IsDir() && fi.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s is not in PATH; give its absolute path under agents: in hookd.yaml", name)
}

// file writes content to a private file for the time of the run, and sets the variable
// env to its path.
func (l *launch) file(env, suffix string, content []byte) error {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	path := filepath.Join(l.dir, l.job.RunID+suffix)
	if l.files == nil {
		l.files = map[string]string{}
	}
	l.files[path] = trust.Sum(content)
	l.env = setVariable(l.env, env, path)
	return os.WriteFile(path, content, 0o600)
}

func (l *launch) cleanup() {
	for path := range l.files {
		os.Remove(path)
	}
}

// variable returns the value of a variable of the hook's environment, "" if absent.
func (l *launch) variable(name string) string { return variable(l.env, name) }

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

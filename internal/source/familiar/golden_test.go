package familiar_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	dialect "github.com/hookd/hookd/internal/dialect/familiar"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/source/familiar"
	"github.com/hookd/hookd/internal/verdict"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const golden = "../../../testdata/familiar"

// outcome is what want.json holds for one event.
type outcome struct {
	Runs    []ranHook        `json:"runs"` // in the order they ran
	Verdict *verdict.Verdict `json:"verdict"`
	Log     []string         `json:"log,omitempty"`
}

type ranHook struct {
	Hook   string `json:"hook"`
	Exit   int    `json:"exit"`
	Blocks bool   `json:"blocks"`
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
	Aborts bool   `json:"aborts,omitempty"`
}

type want struct {
	Problems []string          `json:"problems,omitempty"`
	Events   []outcome         `json:"events"`
	Files    map[string]string `json:"files,omitempty"` // that hooks left in HOME or the workspace
	Requests []string          `json:"requests,omitempty"`
}

// TestGolden holds reading, substitution, answers and verdicts to the folders
// of testdata/familiar: AGENT.md and events in, what ran and was decided out.
func TestGolden(t *testing.T) {
	dirs, err := filepath.Glob(golden + "/*/AGENT.md")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no golden folders: %v", err)
	}
	for _, file := range dirs {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) { checkGolden(t, dir) })
	}
}

func checkGolden(t *testing.T, dir string) {
	w := newWorld(t, dir)
	got := w.play(t)
	text := w.neutral(encode(t, got))
	file := filepath.Join(dir, "want.json")
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	wanted, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(wanted) {
		t.Errorf("got\n%s\nwant\n%s", text, wanted)
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// world is a place of its own for one golden folder, and a dispatch that is
// as plain as the rules: hooks that block one after another in file order,
// then the others.
type world struct {
	dir, home, workspace string
	slack                *httptest.Server
	hooks                []*hook.Hook
	problems             []hook.Problem
	events               []json.RawMessage
	outputs              dialect.Outputs
	log                  []string

	mu       sync.Mutex
	requests []string
}

func newWorld(t *testing.T, dir string) *world {
	t.Helper()
	w := &world{dir: dir, home: t.TempDir()}
	w.workspace = filepath.Join(w.home, "workspace")
	for name, text := range map[string]string{"main.go": "package main\n", "CONVENTIONS.md": "Tabs, not spaces.\n"} {
		if err := os.MkdirAll(w.workspace, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w.workspace, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	agentDir := filepath.Join(w.home, "agent")
	if err := os.Mkdir(agentDir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := w.read(t, "AGENT.md")
	if strings.Contains(text, "curl ") {
		w.listen(t)
		text = strings.ReplaceAll(text, "https://hooks.slack.com/services/...", w.slack.URL)
	}
	path := filepath.Join(agentDir, "AGENT.md")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	w.hooks, w.problems = familiar.Read(path, familiar.Options{})
	if line := []byte(w.read(t, "event.json")); json.Unmarshal(line, &w.events) != nil {
		w.events = []json.RawMessage{line}
	}
	return w
}

func (w *world) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "$WORKSPACE", w.workspace)
}

// listen stands in for the service that the example posts to.
func (w *world) listen(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	w.slack = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.requests = append(w.requests, r.Method+" "+r.Header.Get("Content-Type")+" "+string(body))
	}))
	t.Cleanup(w.slack.Close)
}

// neutral replaces what differs from machine to machine.
func (w *world) neutral(text string) string {
	text = strings.ReplaceAll(text, w.workspace, "$WORKSPACE")
	return strings.ReplaceAll(text, w.home, "$HOME")
}

func (w *world) play(t *testing.T) want {
	var got want
	for _, p := range w.problems {
		level := "error"
		if p.Warning {
			level = "warning"
		}
		got.Problems = append(got.Problems, level+" "+strings.TrimPrefix(p.String(), p.File+":"))
	}
	for i, line := range w.events {
		got.Events = append(got.Events, w.emit(t, line, i))
	}
	got.Files = w.left(t)
	got.Requests = w.requests
	return got
}

// left lists the files that hooks made.
func (w *world) left(t *testing.T) map[string]string {
	files := map[string]string{}
	err := filepath.WalkDir(w.home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || slices.Contains([]string{"main.go", "CONVENTIONS.md", "AGENT.md"}, d.Name()) {
			return err
		}
		text, err := os.ReadFile(path)
		files[w.neutral(path)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func (w *world) emit(t *testing.T, line []byte, n int) outcome {
	env, bad := events.Parse(bytes.ReplaceAll(line, []byte("\n"), []byte(" ")))
	if bad != nil {
		t.Fatal(bad)
	}
	now := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	e := &events.Event{Envelope: env, EventID: fmt.Sprint("e", n), Time: now, Contract: events.For(env.Dialect, env.Event)}
	e.Dialect = e.Contract.Dialect
	var out outcome
	w.log = nil
	var blocking, observing []*hook.Hook
	for _, h := range w.hooks {
		if given(h, e) == "" || !admits(h, e) {
			continue
		}
		if h.Blocks(e.Contract, h.Patterns[0]) {
			blocking = append(blocking, h)
		} else {
			observing = append(observing, h)
		}
	}
	var answers []verdict.Answer
	for _, h := range blocking {
		a := w.run(t, h, e, true, &out)
		answers = append(answers, a.Answer)
		if a.Aborts {
			break
		}
	}
	for _, h := range observing {
		w.run(t, h, e, false, &out)
	}
	out.Verdict, out.Log = verdict.Fold(e.Contract, e.Data, answers), w.log
	return out
}

// given is the name of e's kind that h asks for.
func given(h *hook.Hook, e *events.Event) string {
	for _, c := range e.Contract.Aliases() {
		if h.Patterns[0].Match(c.Name) {
			return c.Name
		}
	}
	return ""
}

func admits(h *hook.Hook, e *events.Event) bool {
	tool, _ := events.GetString(e.Data, "tool_name")
	_, ok := h.Admits(hook.Subject{Tool: tool, Cwd: dialect.Workspace(e), AgentName: e.AgentName})
	return ok && h.Enabled && h.Agent == dialect.Agent(e)
}

func (w *world) run(t *testing.T, h *hook.Hook, e *events.Event, blocks bool, into *outcome) dialect.Answer {
	key := dialect.Conversation(e)
	values := dialect.NewContext(e, given(h, e), e.Data, w.outputs.Get(key, e.Time))
	out := verdict.Output{ExitCode: -1}
	bound, err := h.Template.Bind(values.Value)
	if err != nil {
		out.Failure = err.Error()
	} else {
		out = w.start(t, h, e, bound)
	}
	for _, name := range bound.Unknown {
		w.log = append(w.log, "WARN unknown variable hook="+h.Name+" variable="+name)
	}
	policy := dialect.Policy{Policy: verdict.Policy{Name: h.Name, Blocking: blocks, OnError: string(h.OnError)}, Capture: h.Capture}
	a := dialect.Read(e.Contract, policy, out)
	w.outputs.Append(key, a.Output, e.Time)
	if a.Failure != "" && !a.Silent {
		w.log = append(w.log, "WARN hook failed hook="+h.Name+" error="+a.Failure)
	}
	into.Runs = append(into.Runs, ranHook{h.Name, out.ExitCode, blocks, string(out.Stdout), string(out.Stderr), a.Aborts})
	return a
}

// start runs a script as hookd does, and in place of an agent a program that
// says what it was asked; the agent "fails" does so and fails.
func (w *world) start(t *testing.T, h *hook.Hook, e *events.Event, bound hook.Bound) verdict.Output {
	ctx, cancel := context.WithTimeout(t.Context(), h.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, h.Shell, "-c", bound.Text)
	if h.Type == hook.Spawn {
		cmd = exec.CommandContext(ctx, "/bin/sh", "-c", `printf '%s was asked: ' "$0"; cat; [ "$0" != fails ]`, h.SpawnAgent)
		cmd.Stdin = strings.NewReader(bound.Text)
	}
	cmd.Dir = h.RunDir(dialect.Workspace(e), os.Getenv)
	cmd.Env = append(os.Environ(), "HOME="+w.home, "GIT_CEILING_DIRECTORIES="+cmp.Or(filepath.Dir(w.home), "/"), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	cmd.Env = append(cmd.Env, bound.Env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	out := verdict.Output{ExitCode: cmd.ProcessState.ExitCode(), Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}
	switch {
	case ctx.Err() != nil:
		out.Failure = "timed out after " + h.Timeout.String()
	case out.ExitCode < 0:
		out.Failure = "was ended by " + cmd.ProcessState.String()
	}
	if w.slack != nil {
		out.Stderr = nil // curl's progress
	}
	return out
}

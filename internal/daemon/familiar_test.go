package daemon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/events"
)

// familiarCase is one folder of testdata/familiar: an AGENT.md and events in;
// the runs, the decisions and the log out.
type familiarCase struct {
	Problems []string
	Events   []struct {
		Runs []struct {
			Hook           string
			Exit           int
			Decides        bool
			Stdout, Stderr string
		}
		Verdict client.Verdict
		Log     []string
	}
	Files    map[string]string
	Requests []string
}

// TestFamiliar holds the daemon to every folder of testdata/familiar, over its
// socket, with real shells.
func TestFamiliar(t *testing.T) {
	files, err := filepath.Glob("../../testdata/familiar/*/AGENT.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden folders: %v", err)
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			w := newFamiliarWorld(t, dir)
			for i := range w.want.Events {
				w.check(t, i)
			}
			w.checkLeft(t)
		})
	}
}

// familiarWorld is a daemon with one AGENT.md, a home and a workspace.
type familiarWorld struct {
	*house
	home, workspace string
	events          []json.RawMessage
	want            familiarCase
	curl            bool

	mu       sync.Mutex
	requests []string
}

func newFamiliarWorld(t *testing.T, dir string) *familiarWorld {
	t.Helper()
	w := &familiarWorld{home: t.TempDir()}
	w.workspace = filepath.Join(w.home, "workspace")
	for path, text := range map[string]string{"workspace/main.go": "package main\n", "workspace/CONVENTIONS.md": "Tabs, not spaces.\n", "agent/AGENT.md": w.agent(t, dir)} {
		path = filepath.Join(w.home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, text, 0o644)
	}
	if line := w.read(t, dir, "event.json"); json.Unmarshal(line, &w.events) != nil {
		w.events = []json.RawMessage{line}
	}
	if err := json.Unmarshal(w.read(t, dir, "want.json"), &w.want); err != nil {
		t.Fatal(err)
	}
	w.house = start(t, newHome(t), func(c *config.Config) {
		c.Sources = []config.Source{{Type: "familiar", Path: filepath.Join(w.home, "*", "AGENT.md")}}
		c.Env = map[string]string{
			"HOME":                    w.home,
			"GIT_CEILING_DIRECTORIES": w.home,
			"NO_PROXY":                "127.0.0.1",
			"no_proxy":                "127.0.0.1",
		}
		say := func(name string) config.Agent {
			return config.Agent{
				Command: []string{"/bin/sh", "-c", `printf '%s was asked: ' "$0"; cat; [ "$0" != fails ]`, name},
				Prompt:  "stdin",
			}
		}
		c.Agents = map[string]config.Agent{}
		for _, name := range []string{"wrap-up", "fails", "helper", "reviewer", "fixer", "wrap-up-agent"} {
			c.Agents[name] = say(name)
		}
	})
	w.checkProblems(t)
	return w
}

// agent reads AGENT.md; a hook that posts posts to a server of the test.
func (w *familiarWorld) agent(t *testing.T, dir string) string {
	text := string(w.read(t, dir, "AGENT.md"))
	if w.curl = strings.Contains(text, "curl "); w.curl {
		need(t, "curl")
		slack := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.requests = append(w.requests, r.Method+" "+r.Header.Get("Content-Type")+" "+string(body))
		}))
		t.Cleanup(slack.Close)
		text = strings.ReplaceAll(text, "https://hooks.slack.com/services/...", slack.URL)
	}
	return text
}

func (w *familiarWorld) read(t *testing.T, dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte("$WORKSPACE"), []byte(w.workspace))
	return bytes.ReplaceAll(text, []byte("$HOME/"), []byte(w.home+"/"))
}

func (w *familiarWorld) checkProblems(t *testing.T) {
	t.Helper()
	var got []string
	snap := w.discovery.Current()
	problems := slices.Clone(snap.Problems)
	for _, e := range snap.Entries {
		problems = append(problems, e.Problems...)
		for _, p := range e.Problems { // a warning stands with its own hook alone
			if e.Hook != nil && !slices.Contains(e.Hook.Problems, p) {
				t.Errorf("hook %s has the problem %s of another", e.Name, p)
			}
		}
	}
	for _, p := range problems {
		level := "error"
		if p.Warning {
			level = "warning"
		}
		got = append(got, level+" "+strings.TrimPrefix(p.String(), p.File+":"))
	}
	if !slices.Equal(got, w.want.Problems) {
		t.Errorf("problems\n%q, want\n%q", got, w.want.Problems)
	}
}

// check sends one event and compares its effects.
func (w *familiarWorld) check(t *testing.T, i int) {
	t.Helper()
	env, bad := events.Parse(bytes.ReplaceAll(w.events[i], []byte("\n"), []byte(" ")))
	if bad != nil {
		t.Fatal(bad)
	}
	env.Wait = true
	before := w.logs.Len()
	a, err := w.client.Emit(t.Context(), env.Sent())
	if err != nil {
		t.Fatal(err)
	}
	want := w.want.Events[i]
	var runs []client.Run
	w.until("all its hooks have run", func() bool {
		runs = w.fullRuns(client.RunQuery{EventID: a.EventID, Limit: 100})
		return len(runs) == len(want.Runs)
	})
	slices.SortFunc(runs, func(a, b client.Run) int { return a.Started.Compare(b.Started) })
	// Deciding hooks run in file order, observers when they may.
	place := func(r client.Run) int {
		for k, x := range want.Runs {
			if x.Hook == r.Hook && !x.Decides {
				return k
			}
		}
		return 0
	}
	slices.SortStableFunc(runs, func(a, b client.Run) int { return place(a) - place(b) })
	for k, r := range runs {
		stderr := r.Stderr.Head
		if w.curl {
			stderr = "" // its progress
		}
		if x := want.Runs[k]; r.Hook != x.Hook || r.ExitCode != x.Exit || r.Stdout.Head != x.Stdout ||
			stderr != x.Stderr {
			t.Errorf(
				"event %d: run %d is %s exit %d %q %q, want %+v",
				i,
				k,
				r.Hook,
				r.ExitCode,
				r.Stdout.Head,
				stderr,
				x,
			)
		}
	}
	if got, _ := json.Marshal(a.Verdict); a.Verdict != nil && !reflect.DeepEqual(*a.Verdict, want.Verdict) {
		wanted, _ := json.Marshal(want.Verdict)
		t.Errorf("event %d: verdict\n%s, want\n%s", i, got, wanted)
	}
	if got := warnings(w.logs.All()[before:]); !slices.Equal(got, want.Log) {
		t.Errorf("event %d: log\n%q, want\n%q", i, got, want.Log)
	}
}

// warnings are the WARNs of runs in the words of the golden files.
func warnings(logs []observer.LoggedEntry) (lines []string) {
	for _, l := range logs {
		f := l.ContextMap()
		if l.Level != zap.WarnLevel || l.LoggerName == "daemon" && f["hook"] == nil {
			continue
		}
		if names, ok := f["variables"].([]any); ok {
			for _, name := range names {
				lines = append(lines, "WARN unknown variable hook="+f["hook"].(string)+" variable="+name.(string))
			}
			continue
		}
		lines = append(lines, fmt.Sprintf("WARN hook failed hook=%s error=%s", f["hook"], why(f)))
	}
	return lines
}

func why(f map[string]any) string {
	switch {
	case f["timeout"] != nil:
		return fmt.Sprintf("timed out after %s", f["timeout"])
	case f["signal"] != nil:
		return fmt.Sprintf("was ended by %s", f["signal"])
	}
	return fmt.Sprint(f["error"])
}

// checkLeft compares the files that hooks made and the requests they sent.
func (w *familiarWorld) checkLeft(t *testing.T) {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(w.home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || slices.Contains([]string{"main.go", "CONVENTIONS.md", "AGENT.md"}, d.Name()) {
			return err
		}
		text, err := os.ReadFile(path)
		got[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got)+len(w.want.Files) > 0 && !reflect.DeepEqual(got, w.want.Files) {
		t.Errorf("files %q, want %q", got, w.want.Files)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.requests, w.want.Requests) {
		t.Errorf("requests %q, want %q", w.requests, w.want.Requests)
	}
}

// A failing hook of an AGENT.md is judged by its onFailure alone, in time or not; a failing guard
// of a HOOK.yaml denies Familiar's tool calls as it denies those of each agent.
func TestFailuresOnAToolCallOfFamiliar(t *testing.T) {
	const call = `{"event":"beforeToolCall","wait":true,"agent_name":"coder","data":{"tool_name":"Bash","tool_args":{"command":"ls"}}}`
	for _, tt := range []struct {
		name, agent, guard string
		allowed            bool
	}{
		{"warn", `{event: beforeToolCall, action: script, script: "exit 1"}`, "", true},
		{"warn, too late", `{event: beforeToolCall, action: script, script: "sleep 60", timeout: 300}`, "", true},
		{"warn, cannot start", `{event: beforeToolCall, action: script, script: 'exec ./missing'}`, "", true},
		{"abort", `{event: beforeToolCall, action: script, script: "exit 1", onFailure: abort}`, "", false},
		{"a guard", `{event: onStop, action: script, script: "exit 0"}`, "exit 1", false},
		{"a guard, too late", `{event: onStop, action: script, script: "exit 0"}`, "sleep 60", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, _ := startAgent(t, "  - "+tt.agent+"\n", nil)
			if tt.guard != "" {
				dir := filepath.Join(h.config.Home, "hooks", "guard")
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				yaml := "name: guard\nevents: [pre_tool_use]\ntimeout: 300ms\ntype: script\nscript: " + tt.guard + "\n"
				writeFile(t, filepath.Join(dir, "HOOK.yaml"), yaml, 0o644)
				if _, err := h.client.Reload(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if v := h.emit(call).Verdict; v.Allowed != tt.allowed {
				t.Errorf("got %+v", v)
			}
		})
	}
}

package daemon

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/events"
)

// conformanceCase is one case of testdata/conformance/docker-agent.json: one
// event, the hooks for it in an agent's file, and the verdict expected.
type conformanceCase struct {
	Name, Kind, Event, Lane, Setup string
	Input                          map[string]any
	Hooks                          []map[string]any
	Config                         json.RawMessage
	Env                            map[string]string
	Expect                         map[string]any
}

// TestConformance runs every case against a daemon of its own, over its
// socket. Cases with hook types that this version does not run are skipped.
func TestConformance(t *testing.T) {
	text, err := os.ReadFile("../../testdata/conformance/docker-agent.json")
	if err != nil {
		t.Fatal(err)
	}
	var suite struct{ Cases []conformanceCase }
	if err := json.Unmarshal(text, &suite); err != nil {
		t.Fatal(err)
	}
	for _, c := range suite.Cases {
		t.Run(c.Name, func(t *testing.T) {
			for _, h := range c.Hooks {
				if !runnable[h["type"].(string)] {
					t.Skipf("needs a %s hook", h["type"])
				}
			}
			t.Parallel()
			if c.Kind == "config" {
				c.load(t)
			} else {
				c.dispatch(t)
			}
		})
	}
}

var runnable = map[string]bool{"command": true}

// dispatch sends the case's event and compares the verdict.
func (c conformanceCase) dispatch(t *testing.T) {
	dir := c.workdir(t)
	c.writeAgent(t, dir, map[string]any{c.Event: c.hooks()})
	h := start(t, newHome(t), func(cfg *config.Config) {
		cfg.Sources = []config.Source{{Type: "docker-agent", Path: filepath.Join(dir, "agent.yaml")}}
		cfg.Env = map[string]string{"SHELL": "/bin/sh"}
		maps.Copy(cfg.Env, c.Env)
	})
	input := expand(c.Input, dir).(map[string]any)
	if _, ok := input["cwd"]; !ok {
		input["cwd"] = dir
	}
	data, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	a, err := h.client.Emit(t.Context(), client.Event{Event: c.Event, Data: data, Lane: c.Lane, Wait: true, Dialect: events.DockerAgent, Cwd: dir})
	if err != nil {
		t.Fatal(err)
	}
	c.check(t, a, time.Since(began))
}

// load reads the case's configuration and compares what a reload says of it.
func (c conformanceCase) load(t *testing.T) {
	dir := c.workdir(t)
	var hooks any
	if err := json.Unmarshal(c.Config, &hooks); err != nil {
		t.Fatal(err)
	}
	c.writeAgent(t, dir, hooks)
	h := start(t, newHome(t), func(cfg *config.Config) {
		cfg.Sources = []config.Source{{Type: "docker-agent", Path: filepath.Join(dir, "agent.yaml")}}
	})
	r, _ := h.client.Reload(t.Context())
	var said []string
	for _, p := range r.Problems {
		if !p.Warning {
			said = append(said, p.Message)
		}
	}
	all := strings.Join(said, "\n")
	if want, ok := c.Expect["config_ok"].(bool); ok && want != (len(said) == 0) {
		t.Errorf("config_ok = %t, want %t (%s)", len(said) == 0, want, all)
	}
	if want, ok := c.Expect["config_error"].(string); ok && !strings.Contains(all, want) {
		t.Errorf("problems %q, want %q", all, want)
	}
	for _, want := range list(c.Expect["config_error_contains"]) {
		if !strings.Contains(all, want) {
			t.Errorf("problems %q, want them to contain %q", all, want)
		}
	}
}

func (c conformanceCase) workdir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if c.Setup == "" {
		return dir
	}
	cmd := exec.Command("/bin/sh", "-c", c.Setup)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("setup: %v: %s", err, out)
	}
	return dir
}

// hooks puts each hook of the case into a matcher group of its own where the
// event has groups.
func (c conformanceCase) hooks() []any {
	list := []any{}
	for _, h := range c.Hooks {
		if !events.LookupIn(events.DockerAgent, c.Event).ToolMatched || c.Event == "on_tool_approval_decision" {
			list = append(list, h)
			continue
		}
		group, fields := map[string]any{}, maps.Clone(h)
		for _, key := range []string{"matcher", "preempt_yolo"} {
			if v, ok := h[key]; ok {
				group[key] = v
				delete(fields, key)
			}
		}
		group["hooks"] = []any{fields}
		list = append(list, group)
	}
	return list
}

// writeAgent writes agent.yaml; JSON is YAML too.
func (c conformanceCase) writeAgent(t *testing.T, dir string, hooks any) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"agents": map[string]any{"root": map[string]any{"hooks": hooks}}})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "agent.yaml"), string(text), 0o644)
}

// list returns the strings that an expectation holds, one or many.
func list(v any) (texts []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			texts = append(texts, e.(string))
		}
	}
	return texts
}

// expand replaces the suite's placeholders.
func expand(v any, dir string) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "${WORKDIR}", dir)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = expand(e, dir)
		}
		return out
	case map[string]any:
		if r, ok := v["$repeat"].([]any); ok {
			return strings.Repeat(r[0].(string), int(r[1].(float64)))
		}
		if parts, ok := v["$concat"].([]any); ok {
			var b strings.Builder
			for _, p := range parts {
				b.WriteString(expand(p, dir).(string))
			}
			return b.String()
		}
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = expand(e, dir)
		}
		return out
	}
	return v
}

// check compares the verdict with every expectation of the case.
func (c conformanceCase) check(t *testing.T, a client.Answer, took time.Duration) {
	t.Helper()
	text, err := json.Marshal(a.Verdict)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range c.Expect {
		if key == "max_duration_ms" {
			if limit := time.Duration(want.(float64)) * time.Millisecond; took > limit {
				t.Errorf("took %s, want at most %s", took, limit)
			}
			continue
		}
		if field, ok := strings.CutSuffix(key, "_contains"); ok {
			said, _ := got[field].(string)
			for _, w := range want.([]any) {
				if !strings.Contains(said, w.(string)) {
					t.Errorf("%s = %q, want it to contain %q", field, said, w)
				}
			}
			continue
		}
		if !reflect.DeepEqual(orZero(got[key], want), want) {
			t.Errorf("%s = %#v, want %#v (verdict %s)", key, got[key], want, text)
		}
	}
}

// orZero is the value of a field that is absent from the wire.
func orZero(got, want any) any {
	if got != nil || want == nil {
		return got
	}
	return reflect.Zero(reflect.TypeOf(want)).Interface()
}

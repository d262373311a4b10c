package daemon

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
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
	ModelReply                     *string `json:"model_reply"`
	ModelError                     string  `json:"model_error"`
}

// TestConformance runs every case against a daemon of its own, over its socket.
func TestConformance(t *testing.T) {
	text, err := os.ReadFile("../../testdata/conformance/docker-agent.json")
	if err != nil {
		t.Fatal(err)
	}
	var suite struct{ Cases []conformanceCase }
	if err := json.Unmarshal(text, &suite); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range suite.Cases {
		class, _, isVariant := strings.Cut(c.Name, "/")
		for _, word := range []string{"model", "builtin"} { // hooks/judge and hooks/builtin decide each of these
			if strings.HasPrefix(c.Name, word+"-") {
				class, isVariant = word, true
			}
		}
		isMore := isVariant && seen[class]
		seen[class] = true
		t.Run(c.Name, func(t *testing.T) {
			if isMore {
				hooktest.Long(t) // one of a class shows it, and each has a daemon of its own
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

// dispatch sends the case's event and compares the verdict.
func (c conformanceCase) dispatch(t *testing.T) {
	dir := c.workdir(t)
	c.writeAgent(t, dir, map[string]any{c.Event: c.hooks()})
	model := newStubModel(t, c)
	h := start(t, newHome(t), func(cfg *config.Config) {
		cfg.Providers = map[string]config.Provider{
			"test": {Type: "openai", BaseURL: model.URL + "/v1", APIKeyEnv: "STUB_KEY"},
		}
		cfg.Sources = []config.Source{{Type: "docker-agent", Path: filepath.Join(dir, ".agent.yaml")}}
		cfg.Env = map[string]string{"SHELL": "/bin/sh", "STUB_KEY": "k"}
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
	a, err := h.client.Emit(
		t.Context(),
		client.Event{Event: c.Event, Data: data, Lane: c.Lane, Wait: true, Dialect: "docker-agent"},
	)
	if err != nil {
		t.Fatal(err)
	}
	c.check(t, dir, a, time.Since(began), model.prompt())
}

// stubModel is an OpenAI-compatible server that gives the answer of the case.
type stubModel struct {
	*httptest.Server
	mu   sync.Mutex
	last string // the user's text of the last request
}

func newStubModel(t *testing.T, c conformanceCase) *stubModel {
	m := &stubModel{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil || len(req.Messages) == 0 {
			t.Errorf("model request: %v", err)
			return
		}
		m.mu.Lock()
		m.last = req.Messages[len(req.Messages)-1].Content
		m.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if c.ModelError != "" || c.ModelReply == nil {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"message":%q}}`, c.ModelError)
			return
		}
		reply, _ := json.Marshal(*c.ModelReply)
		fmt.Fprintf(
			w,
			`{"id":"c","object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%s}}]}`,
			reply,
		)
	}))
	t.Cleanup(m.Close)
	return m
}

func (m *stubModel) prompt() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

// load reads the case's configuration and compares the findings of a reload.
func (c conformanceCase) load(t *testing.T) {
	dir := c.workdir(t)
	var hooks any
	if err := json.Unmarshal(c.Config, &hooks); err != nil {
		t.Fatal(err)
	}
	c.writeAgent(t, dir, hooks)
	h := start(t, newHome(t), func(cfg *config.Config) {
		cfg.Sources = []config.Source{{Type: "docker-agent", Path: filepath.Join(dir, ".agent.yaml")}}
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

// writeAgent writes .agent.yaml, which directory listings leave out; JSON is YAML too.
func (c conformanceCase) writeAgent(t *testing.T, dir string, hooks any) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"agents": map[string]any{"root": map[string]any{"hooks": hooks}}})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, ".agent.yaml"), string(text), 0o644)
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
func (c conformanceCase) check(t *testing.T, dir string, a client.Answer, took time.Duration, prompt string) {
	t.Helper()
	text, err := json.Marshal(a.Verdict)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range expand(c.Expect, dir).(map[string]any) {
		switch {
		case key == "max_duration_ms":
			if limit := time.Duration(want.(float64)) * time.Millisecond; took > limit {
				t.Errorf("took %s, want at most %s", took, limit)
			}
		case key == "model_user_prompt":
			if prompt != want {
				t.Errorf("prompt = %q, want %q", prompt, want)
			}
		case strings.HasPrefix(key, "context_"):
			checkText(t, key, strings.TrimPrefix(key, "context_"), c.said(got, "additional_context"), want)
		case key == "metadata_contains":
			given, _ := got["metadata"].(map[string]any)
			for k, v := range want.(map[string]any) {
				if given[k] != v {
					t.Errorf("metadata = %v, want %s: %v", given, k, v)
				}
			}
		case strings.HasSuffix(key, "_not_contains"),
			strings.HasSuffix(key, "_contains"),
			strings.HasSuffix(key, "_count"):
			field, rule, _ := cutLast(key)
			checkText(t, key, rule, c.said(got, field), want)
		case !reflect.DeepEqual(orZero(got[key], want), want):
			t.Errorf("%s = %#v, want %#v (verdict %s)", key, got[key], want, text)
		}
	}
}

// cutLast splits updated_messages_not_contains into the field and the rule.
func cutLast(key string) (field, rule string, ok bool) {
	for _, rule := range []string{"not_contains", "contains", "count"} {
		if field, ok := strings.CutSuffix(key, "_"+rule); ok {
			return field, rule, true
		}
	}
	return key, "", false
}

// said is the text of a verdict's field: a string as it is, the rest as JSON.
func (c conformanceCase) said(got map[string]any, field string) string {
	if field == "spill_file" { // named in the limiter's notice
		_, rest, _ := strings.Cut(c.said(got, "updated_tool_response"), "available in a file: ")
		path, _, _ := strings.Cut(rest, "\n")
		text, _ := os.ReadFile(strings.TrimSpace(path))
		return string(text)
	}
	if s, ok := got[field].(string); ok || got[field] == nil {
		return s
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(got[field]) // it came from JSON
	return b.String()
}

func checkText(t *testing.T, key, rule, said string, want any) {
	t.Helper()
	switch rule {
	case "contains", "not_contains":
		for _, w := range list(want) {
			if strings.Contains(said, w) != (rule == "contains") {
				t.Errorf("%s %q: it says %.300q", key, w, said)
			}
		}
	case "equals":
		if said != want {
			t.Errorf("%s = %q, want %q", key, said, want)
		}
	case "matches":
		if !regexp.MustCompile(want.(string)).MatchString(said) {
			t.Errorf("%s: %q does not match %q", key, said, want)
		}
	case "max_bytes":
		if len(said) > int(want.(float64)) {
			t.Errorf("%s: %d bytes, want at most %v", key, len(said), want)
		}
	case "count":
		var messages []any
		if err := json.Unmarshal([]byte(said), &messages); err != nil || len(messages) != int(want.(float64)) {
			t.Errorf("%s: %d messages, want %v", key, len(messages), want)
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

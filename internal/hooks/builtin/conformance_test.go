package builtin

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// The conformance cases of docker-agent that are about built-ins, without the
// daemon: each built-in runs for real, and its answer goes through package
// verdict. Package daemon runs them over the socket.

type conformanceCase struct {
	Name, Kind, Event, Lane, Setup string
	Input                          map[string]any
	Hooks                          []struct {
		Name, Type, Command string
		Args                []string
	}
	Expect map[string]any
}

func TestConformance(t *testing.T) {
	text, err := os.ReadFile("../../../testdata/conformance/docker-agent.json")
	if err != nil {
		t.Fatal(err)
	}
	var suite struct{ Cases []json.RawMessage }
	if err := json.Unmarshal(text, &suite); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, raw := range suite.Cases {
		if !strings.Contains(string(raw), `"builtin"`) {
			continue
		}
		var c conformanceCase
		if err := json.Unmarshal(raw, &c); err != nil || c.Kind == "config" {
			continue // loading is the business of package source/dockeragent
		}
		ran++
		t.Run(c.Name, c.run)
	}
	if ran < 36 {
		t.Errorf("ran %d cases, want all 36", ran)
	}
}

func (c conformanceCase) run(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if c.Setup != "" {
		cmd := exec.Command("/bin/sh", "-c", c.Setup)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("setup: %v: %s", err, out)
		}
	}
	input := expand(c.Input, dir).(map[string]any)
	data, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	c.check(t, c.dispatch(t, data, t.TempDir()))
}

// dispatch runs the hooks one after another and folds their answers.
func (c conformanceCase) dispatch(t *testing.T, data json.RawMessage, dataDir string) *verdict.Verdict {
	contract := *events.LookupIn(events.DockerAgent, c.Event)
	contract.Decidable = true // every dispatch of that system has a result
	if c.Lane == events.LanePreempt {
		contract = contract.Preempt()
	}
	cwd := rawjson.StringIn(data, "cwd")
	session := rawjson.StringIn(data, "session_id")
	now := data
	var answers []verdict.Answer
	for _, h := range c.Hooks {
		b, ok := Lookup(h.Command)
		if !ok {
			t.Fatalf("no built-in is called %s", h.Command)
		}
		call := callOf(events.LookupIn(events.DockerAgent, c.Event), string(now), h.Args...)
		call.Cwd, call.SessionID, call.Env, call.DataDir = cwd, session, os.Getenv, dataDir
		stdout, err := b.Run(t.Context(), &call)
		out := verdict.Output{Stdout: stdout}
		if err != nil {
			out = verdict.Output{ExitCode: -1, Failure: err.Error()}
		}
		a := verdict.Read(&contract, verdict.Terms{Name: h.Command, Blocking: true, StrictOutput: true}, out)
		answers = append(answers, a)
		if contract.Sequence {
			now = a.Rewrite(&contract, now)
		}
	}
	return verdict.Fold(&contract, data, answers)
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

// check compares the verdict with every expectation; one it does not know is
// an error, so none is passed over.
func (c conformanceCase) check(t *testing.T, v *verdict.Verdict) {
	var response string
	_ = json.Unmarshal(v.UpdatedToolResponse, &response) // not text: stays empty
	texts := map[string]string{
		"message": v.Message, "system_message": v.SystemMessage, "permission_decision": v.PermissionDecision,
		"context": v.AdditionalContext, "updated_tool_response": response, "updated_messages": string(v.UpdatedMessages),
		"spill_file": spilled(response),
	}
	raws := map[string]json.RawMessage{"updated_input": v.UpdatedInput, "updated_tool_response": v.UpdatedToolResponse}
	for key, want := range c.Expect {
		switch want := expand(want, c.dir(v)).(type) {
		case bool:
			if key != "allowed" || v.Allowed != want {
				t.Errorf("%s: got %v, want %v", key, v.Allowed, want)
			}
		case nil:
			if len(raws[key]) > 0 {
				t.Errorf("%s: got %s, want none", key, raws[key])
			}
		case string:
			c.checkText(t, key, want, texts, raws)
		case []any:
			c.checkParts(t, key, want, texts)
		case float64:
			c.checkNumber(t, key, int(want), v)
		case map[string]any:
			c.checkObject(t, key, want, v)
		default:
			t.Errorf("%s: nothing checks %v", key, want)
		}
	}
}

// dir is the working directory, which the payload carries.
func (c conformanceCase) dir(v *verdict.Verdict) string {
	if _, after, ok := strings.Cut(v.AdditionalContext, "Working directory: "); ok {
		dir, _, _ := strings.Cut(after, "\n")
		return dir
	}
	if _, after, ok := strings.Cut(v.AdditionalContext, "Top-level entries in "); ok {
		dir, _, _ := strings.Cut(after, ":")
		return dir
	}
	return ""
}

func (c conformanceCase) checkText(t *testing.T, key, want string, texts map[string]string, raws map[string]json.RawMessage) {
	switch key {
	case "context_equals":
		if texts["context"] != want {
			t.Errorf("context: got %q, want %q", texts["context"], want)
		}
	case "context_matches":
		if !regexp.MustCompile(want).MatchString(texts["context"]) {
			t.Errorf("context: got %q, want a match of %q", texts["context"], want)
		}
	default:
		got, ok := texts[key]
		if !ok || got != want {
			t.Errorf("%s: got %q (%s), want %q", key, got, raws[key], want)
		}
	}
}

func (c conformanceCase) checkParts(t *testing.T, key string, parts []any, texts map[string]string) {
	field, not := strings.CutSuffix(key, "_not_contains")
	if !not {
		field = strings.TrimSuffix(key, "_contains")
	}
	text, ok := texts[field]
	if !ok {
		t.Errorf("%s: nothing checks it", key)
	}
	for _, p := range parts {
		if strings.Contains(text, p.(string)) == not {
			t.Errorf("%s: %q in %.300q", key, p, text)
		}
	}
}

func (c conformanceCase) checkNumber(t *testing.T, key string, want int, v *verdict.Verdict) {
	switch key {
	case "context_max_bytes":
		if len(v.AdditionalContext) > want {
			t.Errorf("context: got %d bytes, want at most %d", len(v.AdditionalContext), want)
		}
	case "updated_messages_count":
		var list []any
		if err := json.Unmarshal(v.UpdatedMessages, &list); err != nil || len(list) != want {
			t.Errorf("messages: got %d, %v, want %d", len(list), err, want)
		}
	default:
		t.Errorf("%s: nothing checks it", key)
	}
}

func (c conformanceCase) checkObject(t *testing.T, key string, want map[string]any, v *verdict.Verdict) {
	switch key {
	case "updated_input":
		var got map[string]any
		if err := json.Unmarshal(v.UpdatedInput, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("updated_input: got %s, %v, want %v", v.UpdatedInput, err, want)
		}
	case "metadata_contains":
		for k, w := range want {
			if v.Metadata[k] != w {
				t.Errorf("metadata %s: got %q, want %q", k, v.Metadata[k], w)
			}
		}
	default:
		t.Errorf("%s: nothing checks it", key)
	}
}

// spilled is the content of the file that the limiter's notice names.
func spilled(response string) string {
	_, after, ok := strings.Cut(response, "available in a file: ")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(after, "\n")
	text, err := os.ReadFile(strings.TrimSpace(name))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

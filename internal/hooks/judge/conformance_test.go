package judge

import (
	"bytes"
	"encoding/json"
	_ "github.com/hookd/hookd/internal/contract/dialect" // the contract table
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/contract/verdict"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// definition is a hook of a case.
type definition struct {
	Type, Command, Model, Prompt, Schema string
	SystemPrompt                         string `json:"system_prompt"`
}

// conformanceCase is a case of testdata/conformance/docker-agent.json.
type conformanceCase struct {
	Name, Kind, Event string
	Input             json.RawMessage
	Hooks             []definition
	Config            map[string]json.RawMessage
	ModelReply        *string `json:"model_reply"`
	ModelError        string  `json:"model_error"`
	Expect            map[string]any
}

// TestConformance runs every case that has a model hook against a provider of
// each protocol, up to the verdict.
func TestConformance(t *testing.T) {
	text, err := os.ReadFile("../../../testdata/conformance/docker-agent.json")
	if err != nil {
		t.Fatal(err)
	}
	var suite struct{ Cases []conformanceCase }
	if err := json.Unmarshal(text, &suite); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, c := range suite.Cases {
		isModel := slices.ContainsFunc(c.Hooks, func(d definition) bool { return d.Type == "model" })
		switch {
		case c.Kind == "config" && hasModel(c.Config):
			t.Run(c.Name, c.check)
		case isModel:
			for _, p := range protocols {
				t.Run(c.Name+"/"+p.kind, func(t *testing.T) { c.dispatch(t, p) })
			}
		default:
			continue
		}
		ran++
	}
	if ran < 21 {
		t.Errorf("%d cases ran, want at least 21", ran)
	}
}

func hasModel(config map[string]json.RawMessage) bool {
	for _, hooks := range config {
		if bytes.Contains(hooks, []byte(`"model"`)) {
			return true
		}
	}
	return false
}

// check runs a case about the errors of a definition.
func (c conformanceCase) check(t *testing.T) {
	var said []string
	for event, hooks := range c.Config {
		var list []struct {
			definition
			Hooks []definition
		}
		if err := json.Unmarshal(hooks, &list); err != nil {
			t.Fatal(err)
		}
		for _, entry := range list {
			for _, d := range append(entry.Hooks, entry.definition) {
				if d.Type != "model" {
					continue
				}
				if err := Check(d.Model, d.Prompt, d.Schema, contract(t, event)); err != nil {
					said = append(said, err.Error())
				}
			}
		}
	}
	all := strings.Join(said, "\n")
	if want, ok := c.Expect["config_error_contains"]; ok && !containsAll(all, want) {
		t.Errorf("problems %q, want %v", all, want)
	}
	if want, ok := c.Expect["config_ok"].(bool); ok && want != (all == "") {
		t.Errorf("problems %q, config_ok %t", all, want)
	}
}

// dispatch runs the case's hooks as package dispatch does.
func (c conformanceCase) dispatch(t *testing.T, p protocol) {
	step := http.HandlerFunc(drop)
	if c.ModelError == "" {
		step = body(200, p.reply(*c.ModelReply))
	}
	s := newStub(t, p, step)
	j := s.judge(t)
	row := contract(t, c.Event)
	data := c.Input
	var answers []verdict.Answer
	for _, d := range c.Hooks {
		a := verdict.Read(row, verdict.Terms{Name: "judge", Blocking: true}, run(t, j, c.Event, data, d))
		answers = append(answers, a)
		if row.Sequence {
			data = a.Rewrite(row, data)
		}
	}
	got := verdict.Fold(row, c.Input, answers)
	c.compare(t, got)
	if want, ok := c.Expect["model_user_prompt"]; ok && (len(s.requests()) != 1 || s.requests()[0].user != want) {
		t.Errorf("model_user_prompt %v, want %q", s.requests(), want)
	}
}

func run(t *testing.T, j *Judge, event string, data json.RawMessage, d definition) verdict.Output {
	if d.Type == "command" {
		cmd := exec.Command("/bin/sh", "-c", d.Command)
		cmd.Stdin = bytes.NewReader(data)
		stdout, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return verdict.Output{Stdout: stdout}
	}
	stdout, err := j.Ask(t.Context(), Question{Event: event, Payload: data, Model: d.Model, Prompt: d.Prompt, SystemPrompt: d.SystemPrompt, Schema: d.Schema})
	if err != nil {
		return verdict.Output{ExitCode: -1, Failure: err.Error()}
	}
	return verdict.Output{Stdout: stdout}
}

func (c conformanceCase) compare(t *testing.T, v *verdict.Verdict) {
	t.Helper()
	got := map[string]any{
		"allowed": v.Allowed, "permission_decision": v.PermissionDecision, "decision_reason": v.DecisionReason,
		"additional_context": v.AdditionalContext, "system_message": v.SystemMessage, "exit_code": float64(v.ExitCode),
	}
	for key, want := range c.Expect {
		switch key {
		case "model_user_prompt":
		case "message_contains":
			if !containsAll(v.Message, want) {
				t.Errorf("message %q, want %v", v.Message, want)
			}
		default:
			value, known := got[key]
			if !known {
				t.Errorf("the case expects %s, which this test does not compare", key)
			} else if value != want {
				t.Errorf("%s = %v, want %v", key, value, want)
			}
		}
	}
}

// containsAll takes one text or a list of them.
func containsAll(text string, want any) bool {
	switch want := want.(type) {
	case string:
		return strings.Contains(text, want)
	case []any:
		return !slices.ContainsFunc(want, func(w any) bool { return !strings.Contains(text, w.(string)) })
	}
	return false
}

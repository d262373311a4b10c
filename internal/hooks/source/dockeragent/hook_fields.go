package dockeragent

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/yamlnode"
	"gopkg.in/yaml.v3"
)

// settings are the fields of one hook, as configured. They are also its identity.
type settings struct {
	Name         string     `json:"name,omitempty"`
	Type         string     `json:"type,omitempty"`
	Command      string     `json:"command,omitempty"`
	Args         []string   `json:"args,omitempty"`
	Timeout      *int       `json:"timeout,omitempty"` // seconds; nil = not given
	Env          []pairText `json:"-"`
	WorkingDir   string     `json:"working_dir,omitempty"`
	OnError      string     `json:"on_error,omitempty"`
	Strict       bool       `json:"strict_output,omitempty"`
	Model        string     `json:"model,omitempty"`
	Prompt       string     `json:"prompt,omitempty"`
	SystemPrompt string     `json:"system_prompt,omitempty"`
	Schema       string     `json:"schema,omitempty"`
	Evaluator    string     `json:"evaluator,omitempty"`

	evaluatorPolicy bool // evaluator_policy or routing_policy is given
}

var hookKeys = []string{"name", "type", "command", "args", "timeout", "env", "working_dir", "on_error", "strict_output",
	"model", "prompt", "system_prompt", "schema", "evaluator", "evaluator_policy", "routing_policy"}

func (r *reader) settings(n *yaml.Node, at place) settings {
	var s settings
	texts := map[string]*string{
		"name": &s.Name, "type": &s.Type, "command": &s.Command, "working_dir": &s.WorkingDir, "on_error": &s.OnError,
		"model": &s.Model, "prompt": &s.Prompt, "system_prompt": &s.SystemPrompt, "schema": &s.Schema,
		"evaluator": &s.Evaluator,
	}
	for _, p := range r.pairs(n, at.path) {
		switch p.Name {
		case "args":
			s.Args = r.texts(p, at.path)
		case "env":
			s.Env = r.textMap(p, at.path)
		case "timeout":
			seconds := r.seconds(p, at.path)
			s.Timeout = &seconds
		case "strict_output":
			s.Strict = !yamlnode.IsNull(p.Value) && r.boolean(p, at.path)
		case "evaluator_policy", "routing_policy":
			s.evaluatorPolicy = !yamlnode.IsNull(p.Value)
		default:
			if into := texts[p.Name]; into != nil {
				*into = r.Text(p, at.path)
				continue
			}
			hint := ""
			if slices.Contains(groupKeys, p.Name) {
				hint = at.contract.Name + " takes hooks directly, without a matcher group"
			}
			r.unknown(p, at.path, hookKeys, hint)
		}
	}
	return s
}

// check checks one hook by docker-agent's rules, with docker-agent's messages.
func (r *reader) check(n *yaml.Node, s settings, at place) {
	fail := func(message string) { r.Errorf(n, "%s: %s", at.path, message) }
	switch s.Type {
	case "":
		fail("type is required")
	case "command":
		if strings.TrimSpace(s.Command) == "" {
			fail("command is required for command hooks")
		}
	case "builtin":
		if strings.TrimSpace(s.Command) == "" {
			fail("command must name the builtin to invoke")
		}
	case "model":
		r.checkModel(s, at, fail)
	case "evaluator":
		checkEvaluator(s, at, fail)
	default:
		fail("unsupported hook type '" + s.Type + "' (supported: 'command', 'builtin', 'model', 'evaluator')")
	}
	if s.Type != "evaluator" && (s.Evaluator != "" || s.evaluatorPolicy) {
		fail("evaluator fields require type evaluator")
	}
	switch s.OnError {
	case "", "warn", "ignore":
	case "block":
		if !at.contract.CanBlock {
			fail("on_error block is not supported by this event")
		}
	default:
		fail("on_error must be warn, ignore, or block")
	}
}

func (r *reader) checkModel(s settings, at place, fail func(string)) {
	if s.Model == "" {
		fail("model is required for model hooks")
	}
	if s.Prompt == "" {
		fail("prompt is required for model hooks")
	}
	switch {
	case at.contract.Explicit && s.Schema != "guard_decision":
		fail("model hooks require schema guard_decision")
	case s.Schema == "guard_decision" && !at.contract.CanBlock:
		fail("guard_decision requires a blocking event")
	case s.Schema == "pre_tool_use_decision" && at.contract.Decision == "":
		fail("pre_tool_use_decision requires an approval event")
	}
}

func checkEvaluator(s settings, at place, fail func(string)) {
	if s.Evaluator == "" {
		fail("evaluator is required")
	}
	if at.contract.Name != "tool_guard" {
		fail("evaluator hooks are only supported on tool_guard, before_agent_run, and after_agent_complete")
	}
}

// unsupported returns why a valid hook is not loaded, or "".
func unsupported(s settings) string {
	switch {
	case s.Type == "evaluator":
		return "evaluator hooks are not run by this version of hookd: this one is left out"
	case s.Type == "command" && hook.CallsBridge(s.Command):
		return "this hook is hookd's own bridge and is not loaded: it would answer its own events"
	}
	return ""
}

// identity is equal for two hooks of one event that are the same hook: it has every
// field as configured; the order of env does not count. A hook of another folder or
// lane is another hook.
func (s settings) identity(dir, lane string) string {
	env := make(map[string]string, len(s.Env))
	for _, e := range s.Env {
		env[e.name] = e.value
	}
	text, err := json.Marshal(struct {
		settings
		Env       map[string]string `json:"env,omitempty"`
		Dir, Lane string
	}{s, env, dir, lane})
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return string(text)
}

package dockeragent

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// Messages are docker-agent's, places are file:line:column.
func TestErrors(t *testing.T) {
	for _, tt := range []struct{ name, block, want string }{
		{"unknown-event", "pre_tool: []", `4:7: agents.root.hooks.pre_tool: unknown event`},
		{"unknown-event-near", "pre_tool_us: []", `unknown event (did you mean "pre_tool_use"?)`},
		{"unknown-key", "stop:\n  - type: command\n    comand: a", `6:11: agents.root.hooks.stop[0]: unknown key "comand" (did you mean "command"?)`},
		{"unknown-key-in-group", "pre_tool_use:\n  - matchr: a\n    hooks: {type: command, command: a}", `5:11: agents.root.hooks.pre_tool_use[0]: unknown key "matchr" (did you mean "matcher"?)`},
		{"matcher-on-flat-event", "stop: [{matcher: a, hooks: []}]", `stop takes hooks directly, without a matcher group`},
		{"hook-without-group", "pre_tool_use: [{type: command, command: a}]", `pre_tool_use takes matcher groups: put the hook under hooks:`},
		{"flat-shape", "stop: yes", "4:13: agents.root.hooks.stop: hook event must be a hook or a list of hooks"},
		{"group-shape", "tool_guard: [a]", "agents.root.hooks.tool_guard: hook event must be a matcher or a list of matchers"},
		{"hooks-shape", "tool_guard: [{hooks: [a]}]", "agents.root.hooks.tool_guard[0].hooks: hooks must be a hook or a list of hooks"},
		{"no-hooks", "tool_guard: [{matcher: a}]", "agents.root.hooks.tool_guard[0]: at least one hook is required"},
		{"null-hooks", "tool_guard: [{hooks: }]", "at least one hook is required"},
		{"bad-matcher", "pre_tool_use: [{matcher: '[', hooks: {type: command, command: a}}]", "4:32: agents.root.hooks.pre_tool_use[0]: invalid matcher: "},
		{"preempt-elsewhere", "tool_guard: [{preempt_yolo: false, hooks: {type: command, command: a}}]", "preempt_yolo is only valid on pre_tool_use"},
		{"preempt-type", "pre_tool_use: [{preempt_yolo: 3, hooks: {type: command, command: a}}]", "preempt_yolo must be true or false"},
		{"no-type", "stop: [{command: a}]", "agents.root.hooks.stop[0]: type is required"},
		{"bad-type", "stop: [{type: shell, command: a}]", "unsupported hook type 'shell' (supported: 'command', 'builtin', 'model', 'evaluator')"},
		{"no-command", "stop: [{type: command}]", "command is required for command hooks"},
		{"blank-command", "stop: [{type: command, command: ' '}]", "command is required for command hooks"},
		{"no-builtin", "stop: [{type: builtin}]", "command must name the builtin to invoke"},
		{"no-model", "stop: [{type: model, prompt: p}]", "model is required for model hooks"},
		{"no-prompt", "stop: [{type: model, model: a/b}]", "prompt is required for model hooks"},
		{"bad-on-error", "stop: [{type: command, command: a, on_error: blok}]", "on_error must be warn, ignore, or block"},
		{"block-on-stop", "stop: [{type: command, command: a, on_error: block}]", "on_error block is not supported by this event"},
		{"negative-timeout", "stop: [{type: command, command: a, timeout: -1}]", "timeout must not be negative"},
		{"timeout-with-unit", "stop: [{type: command, command: a, timeout: 5s}]", "timeout must be a whole number of seconds"},
		{"timeout-with-fraction", "stop: [{type: command, command: a, timeout: 1.5}]", "timeout must be a whole number of seconds"},
		{"timeout-of-years", "stop: [{type: command, command: a, timeout: 99999999999}]", "timeout must not be over 86400 seconds"},
		{"evaluator-field", "tool_guard: [{hooks: {type: command, command: a, evaluator: e}}]", "evaluator fields require type evaluator"},
		{"no-evaluator", "tool_guard: [{hooks: {type: evaluator}}]", "evaluator is required"},
		{"evaluator-elsewhere", "pre_tool_use: [{hooks: {type: evaluator, evaluator: e}}]", "evaluator hooks are only supported on tool_guard"},
		{"guard-schema", "turn_start: [{type: model, model: m, prompt: p, schema: guard_decision}]", "guard_decision requires a blocking event"},
		{"judge-schema", "post_tool_use: [{hooks: {type: model, model: m, prompt: p, schema: pre_tool_use_decision}}]", "pre_tool_use_decision requires an approval event"},
		{"content-guard-schema", "skill_content_guard: [{type: model, model: m, prompt: p}]", "model hooks require schema guard_decision"},
		{"args-type", "stop: [{type: command, command: a, args: x}]", "args must be a list of strings"},
		{"args-element", "stop: [{type: command, command: a, args: [[x]]}]", "args[0] must be a string"},
		{"env-type", "stop: [{type: command, command: a, env: [x]}]", "env must be a mapping of strings"},
		{"env-value", "stop: [{type: command, command: a, env: {A: [x]}}]", "env.A must be a string"},
		{"command-type", "stop: [{type: command, command: [a]}]", "command must be a string"},
		{"key-twice", "stop: [{type: command, command: a, command: b}]", `key "command" is given twice, first in line 4`},
		{"event-twice", "stop: {type: command, command: a}\nstop: {type: command, command: b}", `agents.root.hooks: key "stop" is given twice, first in line 4`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hooks, problems := parse(t, tt.block)
			if len(hooks) > 0 {
				t.Errorf("hooks = %v, want none: an error rejects the file", hooks)
			}
			if got := fmt.Sprint(problems); !strings.Contains(got, "/srv/agent/agent.yaml:") || !strings.Contains(got, tt.want) {
				t.Errorf("problems = %s, want one with %q", got, tt.want)
			}
		})
	}
}

func TestFileErrors(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "the file is empty"},
		{"comment-only", "# nothing\n", "the file is empty"},
		{"not-yaml", "agents: [\n", "/a.yaml:"},
		{"tab", "agents:\n\troot: {}\n", "/a.yaml:2:1: yaml: line 2"},
		{"two-documents", "agents: {}\n---\nagents: {}\n", "a second YAML document"},
		{"agents-list", "agents: []\n", "agents must be a mapping of names to agents"},
		{"hooks-list", "agents: {root: {hooks: []}}\n", "agents.root.hooks must be a mapping of events to hooks"},
		{"hooks-twice", "agents:\n  root:\n    hooks: {}\n    hooks: {}\n", `/a.yaml:4:5: key "hooks" is given twice`},
		{"agent-twice", "agents:\n  root: {}\n  root: {}\n", `key "root" is given twice`},
		{"self", "agents: &a\n  root: *a\n", ""},
		{"self-merge", "agents:\n  root: &r\n    <<: *r\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hooks, problems := Parse("/a.yaml", []byte(tt.text), opt)
			if got := fmt.Sprint(problems); len(hooks) > 0 || !strings.Contains(got, tt.want) {
				t.Errorf("%d hooks, problems = %s, want one with %q", len(hooks), got, tt.want)
			}
		})
	}
}

func TestOneErrorRejectsTheFile(t *testing.T) {
	hooks, problems := parse(t, "stop: {type: command, command: a}\nturn_end: {type: comand, command: b}")
	if len(hooks) > 0 || len(problems) != 1 {
		t.Errorf("%d hooks and problems %v, want none and one", len(hooks), problems)
	}
}

func TestManyHooks(t *testing.T) {
	block := "stop: [&h {type: command, command: a}" + strings.Repeat(", *h", maxHooks) + "]"
	if _, problems := parse(t, block); len(problems) != 1 || !strings.Contains(problems[0].Message, "more than 10000 hooks") {
		t.Errorf("problems = %v", problems)
	}
}

// Hooks that cannot run are left out, and said; the others run.
func TestLeftOut(t *testing.T) {
	for _, tt := range []struct{ name, fields, want string }{
		{"bridge", "type: command, command: hookd bridge docker-agent", "hookd's own bridge"},
		{"bridge-path", "type: command, command: '/usr/local/bin/hookd-bridge docker-agent'", "hookd's own bridge"},
		{"bridge-quoted", `type: command, command: '"/opt/hookd" bridge docker-agent'`, "hookd's own bridge"},
		{"bridge-later", "type: command, command: 'test -S x && hookd-bridge docker-agent'", "hookd's own bridge"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hooks, problems := parse(t, "stop: [{type: command, command: a}, {"+tt.fields+"}]")
			if len(hooks) != 1 {
				t.Errorf("%d hooks, want the other one", len(hooks))
			}
			if len(problems) != 1 || !problems[0].Warning || !strings.Contains(problems[0].Message, tt.want) {
				t.Errorf("problems = %v, want a warning with %q", problems, tt.want)
			}
		})
	}
}

func TestConformanceConfigs(t *testing.T) {
	text, err := os.ReadFile("../../../../testdata/conformance/docker-agent.json")
	if err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Cases []struct {
			Name, Kind string
			Config     json.RawMessage
			Expect     struct {
				OK    bool   `json:"config_ok"`
				Error string `json:"config_error_contains"`
			}
		}
	}
	if err := json.Unmarshal(text, &suite); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, c := range suite.Cases {
		if c.Kind != "config" {
			continue
		}
		ran++
		t.Run(c.Name, func(t *testing.T) {
			// JSON is YAML.
			_, problems := Parse("/a.yaml", []byte(`{"agents":{"root":{"hooks":`+string(c.Config)+`}}}`), opt)
			var errors []string
			for _, p := range problems {
				if !p.Warning {
					errors = append(errors, p.Message)
				}
			}
			got := strings.Join(errors, "\n")
			if c.Expect.OK != (got == "") || !strings.Contains(got, c.Expect.Error) {
				t.Errorf("errors = %q, want ok %v, error with %q", got, c.Expect.OK, c.Expect.Error)
			}
		})
	}
	if ran < 15 {
		t.Errorf("%d config cases ran: is the suite whole?", ran)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"hooks.yaml", "agent.yaml"} {
		text, err := os.ReadFile(examples + "/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("agents: &a {root: {<<: *a, hooks: {stop: *a}}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		hooks, problems := Parse("/a.yaml", text, opt)
		for _, p := range problems {
			if !p.Warning && len(hooks) > 0 {
				t.Fatalf("hooks beside the error %s", p)
			}
		}
		ids := map[string]bool{}
		for _, h := range hooks {
			if ids[h.ID] || h.ScriptText+h.Command+h.Model == "" || h.Timeout <= 0 {
				t.Fatalf("hook %+v", h)
			}
			ids[h.ID] = true
		}
	})
}

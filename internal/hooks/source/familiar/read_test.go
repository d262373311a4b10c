package familiar

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match"
	"github.com/hookd/hookd/wire"
)

const agentFile = "/srv/agents/coder/AGENT.md"

// matter is a file with the given hooks in its front matter; the first of them
// stands in line 4.
func matter(hooks string) []byte {
	return []byte("---\nname: coder\nhooks:\n" + hooks + "---\n# Coder\nhooks: [not these]\n---\n")
}

func TestDefaultsOfEveryField(t *testing.T) {
	hooks, problems := Parse(agentFile, matter("  - event: beforeToolCall\n    action: script\n    script: exit 0\n"), Options{})
	if len(hooks) != 1 || len(problems) > 0 {
		t.Fatalf("%d hooks, %v", len(hooks), problems)
	}
	h := hooks[0]
	if h.ID != agentFile+"#hooks[0]" || h.Name != "coder/beforeToolCall[0]" || h.Agent != "coder" || h.Source != (hook.Source{Type: "familiar", Path: agentFile}) || h.File != agentFile || h.Dialect != events.Familiar {
		t.Errorf("identity: %+v", h)
	}
	if h.Timeout != 30*time.Second || h.OnError != hook.OnErrorWarn || !*h.Blocking || h.Capture || !h.Enabled {
		t.Errorf("settings: timeout %s, onFailure %s, blocking %t, capture %t, enabled %t", h.Timeout, h.OnError, *h.Blocking, h.Capture, h.Enabled)
	}
	if h.Type != hook.Script || h.Shell != "/bin/sh" || h.ScriptText != "exit 0" || h.Command != "exit 0" || h.Template == nil || !h.InEventCwd || h.Dir != filepath.Dir(agentFile) || h.Order != hook.OrderSession {
		t.Errorf("what runs: %+v", h)
	}
}

// The failure of a hook does what its onFailure says, also where hookd cannot wait for its end.
func TestOnFailureAloneDecides(t *testing.T) {
	row := events.LookupIn(events.Familiar, "beforeToolCall")
	for word, want := range map[string]wire.Failure{"warn": wire.FailurePasses, "ignore": wire.FailurePasses, "abort": wire.FailureDenies} {
		hooks, _ := Parse(agentFile, matter("  - {event: beforeToolCall, action: script, script: exit 0, onFailure: "+word+"}\n"), Options{})
		a := verdict.Answer{Terms: match.Match{Hook: hooks[0], Blocks: true}.Terms(), Failure: "timed out"}
		if got := hooks[0].Failure(); got != want || a.FailureDenies(row) != (want == wire.FailureDenies) {
			t.Errorf("%s: a failure %s, and denies: %t", word, got, a.FailureDenies(row))
		}
	}
}

func TestEveryField(t *testing.T) {
	hooks, problems := Parse(agentFile, matter(`  - name: all
    event: afterToolCall
    action: script
    script: |
      echo {{tool_name}}
    blocking: true
    timeout: 1500
    onFailure: abort
    captureOutput: true
    enabled: false
    filter:
      tools: [Bash, Write]
      excludeTools: [Read]
      workspaces: ["~/p/*", "/srv"]
  - event: onStop
    action: agent
    agent: wrap-up
    prompt: "{{agent_name}} is done"
    onFailure: ignore
`), Options{Shell: "/bin/ash", Home: "/home/u"})
	if len(hooks) != 2 || len(problems) > 0 {
		t.Fatalf("%d hooks, %v", len(hooks), problems)
	}
	h := hooks[0]
	if h.Name != "all" || h.Timeout != 1500*time.Millisecond || h.OnError != hook.OnErrorDeny || !*h.Blocking || !h.Capture || h.Enabled || h.Shell != "/bin/ash" {
		t.Errorf("settings: %+v", h)
	}
	if got := fmt.Sprint(h.Filter.Tools, h.Filter.ExcludeTools, h.Filter.Workspaces[0].Text, h.Filter.Workspaces[1].Text); got != "[Bash Write] [Read]/home/u/p/*/srv" {
		t.Errorf("filter: %s", got)
	}
	if h.Command != "echo {{tool_name}}\n" || h.ScriptText != "echo \"${familiar_value_1}\"\n" || h.Patterns[0].Text != "afterToolCall" {
		t.Errorf("script: %q made of %q", h.ScriptText, h.Command)
	}
	spawn := hooks[1]
	if spawn.Type != hook.Spawn || spawn.SpawnAgent != "wrap-up" || spawn.OnError != hook.OnErrorIgnore || !*spawn.Blocking || spawn.ID != agentFile+"#hooks[1]" {
		t.Errorf("agent action: %+v", spawn)
	}
	if bound, err := spawn.Template.Bind(only("coder")); err != nil || bound.Text != "coder is done" {
		t.Errorf("prompt: %q, %v", bound.Text, err)
	}
}

func TestBlockingDefaultsPerEvent(t *testing.T) {
	for event, want := range map[string]bool{"onStart": true, "onStop": true, "beforeToolCall": true, "afterToolCall": false, "onError": false, "beforeMessage": true, "afterMessage": false} {
		for _, set := range []string{"", "true", "false"} {
			text := "  - {event: " + event + ", action: script, script: exit 0"
			if set != "" {
				text, want = text+", blocking: "+set, set == "true"
			}
			hooks, problems := Parse(agentFile, matter(text+"}\n"), Options{})
			if len(hooks) != 1 || len(problems) > 0 || *hooks[0].Blocking != want {
				t.Errorf("%s blocking %q: %v, %v; want %t", event, set, hooks, problems, want)
			}
		}
	}
}

func TestFilesWithoutHooks(t *testing.T) {
	for _, text := range []string{
		"", "# Agent\n", "no front matter\n---\nhooks: []\n---\n", "---\n---\n", "---\n# nothing\n---\n",
		"---\nname: a\n---\n", "---\nname: a\nhooks:\n---\n", "---\nname: a\nhooks: []\n---\n", "---\nhooks: []\n---\n",
		"----\nhooks: 3\n----\n", " ---\nhooks: 3\n---\n", "---", "---\nname: a\nmodel: {provider: x, hooks: 3}\n---\nbody",
	} {
		if hooks, problems := Parse(agentFile, []byte(text), Options{}); len(hooks)+len(problems) > 0 {
			t.Errorf("Parse(%q) = %v, %v; want nothing", text, hooks, problems)
		}
	}
}

func TestFrontMatterForms(t *testing.T) {
	const hooks = "name: a\nhooks:\n- {event: onStart, action: script, script: exit 0}\n"
	for _, text := range []string{
		"---\n" + hooks + "---\n", "---\n" + hooks + "---", "--- \t\n" + hooks + "---  \nbody\n---\n: bad yaml [\n---\n",
		"\xef\xbb\xbf---\n" + hooks + "---\n", strings.ReplaceAll("---\n"+hooks+"---\nbody\n", "\n", "\r\n"),
		"---\n" + hooks + "extra: [1, 2]\nhookd: x\n---\n", "---\nname: a\nbase: &b {event: onStart, action: script}\nhooks:\n- {<<: *b, script: exit 0}\n---\n",
	} {
		hooks, problems := Parse(agentFile, []byte(text), Options{})
		if len(hooks) != 1 || len(problems) > 0 || hooks[0].Agent != "a" {
			t.Errorf("Parse(%q) = %v, %v; want one hook of a", text, hooks, problems)
		}
	}
}

func TestProblemsNameLineAndColumn(t *testing.T) {
	const start = "  - event: onStart\n    action: script\n    script: exit 0\n" // lines 4 to 6
	for _, tt := range []struct{ name, hooks, want string }{
		{"event-missing", "  - action: script\n    script: exit 0\n", "4:5: hooks[0]: event is required (one of onStart, onStop, beforeToolCall, afterToolCall, onError, beforeMessage, afterMessage)"},
		{"event-unknown", "  - event: beforeToolcal\n    action: script\n    script: exit 0\n", `4:12: hooks[0]: unknown event "beforeToolcal" (did you mean "beforeToolCall"?)`},
		{"event-of-another-dialect", "  - event: agent:end\n    action: script\n    script: exit 0\n", `4:12: hooks[0]: unknown event "agent:end" (one of`},
		{"event-a-list", "  - event: [onStart]\n    action: script\n    script: exit 0\n", "4:12: hooks[0]: event must be a string"},
		{"action-missing", "  - event: onStart\n    script: exit 0\n", "4:5: hooks[0]: action is required (one of script, agent)"},
		{"action-unknown", "  - event: onStart\n    action: scripts\n    script: exit 0\n", `5:13: hooks[0]: unknown action "scripts" (did you mean "script"?)`},
		{"script-missing", "  - event: onStart\n    action: script\n", "4:5: hooks[0]: script is required for action script"},
		{"script-empty", "  - event: onStart\n    action: script\n    script: ' '\n", "4:5: hooks[0]: script is required for action script"},
		{"agent-missing", "  - event: onStart\n    action: agent\n    prompt: p\n", "4:5: hooks[0]: agent is required for action agent"},
		{"prompt-missing", "  - event: onStart\n    action: agent\n    agent: a\n", "4:5: hooks[0]: prompt is required for action agent"},
		{"agent-itself", "  - event: onStop\n    action: agent\n    agent: coder\n    prompt: p\n", `6:12: hooks[0]: agent "coder" cannot start itself`},
		{"key-near", start + "    onfailure: abort\n", `7:5: hooks[0]: unknown key "onfailure" (did you mean "onFailure"?)`},
		{"key-near-snake", start + "    capture_output: true\n", `7:5: hooks[0]: unknown key "capture_output" (did you mean "captureOutput"?)`},
		{"key-twice", start + "    script: exit 1\n", `7:5: hooks[0]: key "script" is given twice, first in line 6`},
		{"filter-key-near", start + "    filter: {tool: [Bash]}\n", `7:14: hooks[0].filter: unknown key "tool" (did you mean "tools"?)`},
		{"filter-not-a-mapping", start + "    filter: Bash\n", "7:13: hooks[0].filter must be a mapping"},
		{"tools-a-mapping", start + "    filter: {tools: {a: b}}\n", "7:21: hooks[0].filter: tools must be a list of strings"},
		{"tools-a-nested-list", start + "    filter: {tools: [[a]]}\n", "7:22: hooks[0].filter: tools[0] must be a string that is not empty"},
		{"workspace-bad-glob", start + "    filter: {workspaces: ['a[']}\n", "7:27: hooks[0].filter: workspaces[0]:"},
		{"timeout-duration", start + "    timeout: 5s\n", "7:14: hooks[0]: timeout must be a whole number of milliseconds"},
		{"timeout-float", start + "    timeout: 1.5\n", "7:14: hooks[0]: timeout must be a whole number of milliseconds"},
		{"timeout-zero", start + "    timeout: 0\n", "7:14: hooks[0]: timeout must be at least 50 (it is in milliseconds"},
		{"timeout-seconds", start + "    timeout: 30\n", "7:14: hooks[0]: timeout must be at least 50 (it is in milliseconds"},
		{"timeout-over", start + "    timeout: 86400001\n", "7:14: hooks[0]: timeout must not be over a day"},
		{"on-failure-unknown", start + "    onFailure: block\n", `7:16: hooks[0]: unknown onFailure "block" (one of warn, abort, ignore)`},
		{"blocking-a-word", start + "    blocking: sometimes\n", "7:15: hooks[0]: blocking must be true or false"},
		{"enabled-a-number", start + "    enabled: 1\n", "7:14: hooks[0]: enabled must be true or false"},
		{"capture-a-string", start + "    captureOutput: 'yes please'\n", "7:20: hooks[0]: captureOutput must be true or false"},
		{"hook-not-a-mapping", "  - onStart\n", "4:5: hooks[0] must be a mapping"},
		{"second-hook", start + "  - event: onStart\n", "7:5: hooks[1]: action is required"},
		{"script-does-not-parse", "  - event: onStart\n    action: script\n    script: |\n      echo a\n      if true; then :\n", "8:7: hooks[0]: script: `if` statement must end with `fi` (hooks run in /bin/sh)"},
		{"script-does-not-parse-in-one-line", "  - event: onStart\n    action: script\n    script: echo 'a\n", "6:13: hooks[0]: script: reached EOF without closing quote `'`"},
		{"placeholder-misplaced", "  - event: onStart\n    action: script\n    script: |\n\n      echo ok\n        echo $((1{{agent_id}}))\n", "9:18: hooks[0]: placeholder {{agent_id}} cannot stand in a part of a number"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hooks, problems := Parse(agentFile, matter(tt.hooks), Options{})
			if len(hooks) > 0 || len(problems) == 0 || problems[0].Warning || !strings.HasPrefix(problems[0].String(), agentFile+":"+tt.want) {
				t.Errorf("hooks %v, problems %v; want %s", hooks, problems, tt.want)
			}
		})
	}
}

func TestProblemsOfTheFile(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"---\nhooks: []\n", ":1:1: the front matter has no end"},
		{"---\nhooks:\n- {event: onStart, action: script, script: exit 0}\n---\n", ":3:1: name is required in the front matter"},
		{"---\nname: ''\nhooks:\n- {event: onStart, action: script, script: exit 0}\n---\n", ":2:7: name must be the agent's name"},
		{"---\nname: [a]\nhooks: [{event: onStart, action: script, script: exit 0}]\n---\n", ":2:7: name must be"},
		{"---\nname: a\nname: b\nhooks: [{event: onStart, action: script, script: exit 0}]\n---\n", `:3:1: key "name" is given twice`},
		{"---\nname: a\nhooks: {onStart: []}\n---\n", ":3:8: hooks must be a list"},
		{"---\n- hooks\n---\n", ":2:1: the front matter must be a mapping"},
		{"---\nname: a\nhooks:\n\t- x\n---\n", ":4:1: yaml: line 4:"},
		{"---\nname: a\n...\nhooks: []\n---\n", ":3:1: yaml: line 3:"},
		{"---\nname: a\n--- {hooks: []}\n---\n", ":3:1: a second YAML document"},
	} {
		hooks, problems := Parse(agentFile, []byte(tt.text), Options{})
		if len(hooks) > 0 || len(problems) == 0 || problems[0].Warning || !strings.HasPrefix(problems[0].String(), agentFile+tt.want) {
			t.Errorf("Parse(%q) = %v, %v; want %s", tt.text, hooks, problems, tt.want)
		}
	}
}

func TestWarningsKeepTheHook(t *testing.T) {
	const start = "  - event: onStart\n    action: script\n    script: exit 0\n"
	for _, tt := range []struct{ name, hooks, want string }{
		{"unknown-key", start + "    colour: red\n", `7:5: hooks[0]: unknown key "colour" (it is ignored)`},
		{"useless-agent", start + "    agent: other\n", "7:5: hooks[0]: agent does nothing with action script"},
		{"useless-script", "  - event: onStop\n    action: agent\n    agent: a\n    prompt: p\n    script: exit 0\n", "8:5: hooks[0]: script does nothing with action agent"},
		{"abort-without-blocking", start + "    blocking: false\n    onFailure: abort\n", "8:5: hooks[0]: onFailure abort does nothing"},
		{"tools-without-a-tool", start + "    filter: {tools: [Bash]}\n", "7:5: hooks[0].filter: onStart has no tool"},
		{"variable-near", "  - event: beforeToolCall\n    action: script\n    script: |\n      echo {{tool_arg.command}}\n", "7:12: hooks[0]: beforeToolCall has no variable {{tool_arg.command}} (did you mean {{tool_args.command}}?)"},
		{"variable-of-another-event", "  - event: onStart\n    action: agent\n    agent: a\n    prompt: 'by {{tool_name}}'\n", "7:13: hooks[0]: onStart has no variable {{tool_name}} (it is empty unless the event brings it)"},
		{"program-text", "  - event: onStart\n    action: script\n    script: |\n      eval {{agent_id}}\n", "7:12: hooks[0]: {{agent_id}} is pasted into program text of eval"},
		{"echo-in-a-guard", "  - event: beforeToolCall\n    action: script\n    onFailure: abort\n    script: |\n      echo {{tool_name}} | grep x\n", "8:12: hooks[0]: echo in /bin/sh may read backslashes in {{tool_name}}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hooks, problems := Parse(agentFile, matter(tt.hooks), Options{})
			if len(hooks) != 1 || len(problems) != 1 || !problems[0].Warning || !strings.HasPrefix(problems[0].String(), agentFile+":"+tt.want) {
				t.Errorf("%d hooks, problems %v; want one and %s", len(hooks), problems, tt.want)
			}
		})
	}
	for _, silent := range []string{
		"  - event: afterToolCall\n    action: script\n    script: echo {{tool_name}}\n",
		"  - event: onStart\n    action: script\n    script: |\n      # {{nope}}\n      exit 0\n",
		"  - event: beforeMessage\n    action: script\n    script: echo {{message}}\n",
	} {
		if hooks, problems := Parse(agentFile, matter(silent), Options{}); len(hooks) != 1 || len(problems) > 0 {
			t.Errorf("Parse(%q): %v", silent, problems)
		}
	}
}

func TestABridgeIsNotLoaded(t *testing.T) {
	hooks, problems := Parse(agentFile, matter("  - event: onStart\n    action: script\n    script: exec hookd bridge familiar\n"), Options{})
	if len(hooks) != 0 || len(problems) != 1 || !problems[0].Warning {
		t.Errorf("%v, %v; want no hook and a warning", hooks, problems)
	}
}

// An agent action without a deadline of its own has that of the settings.
func TestAgentTimeout(t *testing.T) {
	text := matter("  - {event: onStop, action: agent, agent: b, prompt: x}\n  - {event: onStop, action: agent, agent: b, prompt: x, timeout: 700}\n  - {event: onStop, action: script, script: 'true'}\n")
	for limit, want := range map[time.Duration][]time.Duration{
		0:               {defaultTimeout, 700 * time.Millisecond, defaultTimeout},
		2 * time.Minute: {2 * time.Minute, 700 * time.Millisecond, defaultTimeout},
	} {
		hooks, problems := Parse(agentFile, text, Options{AgentTimeout: limit})
		if len(hooks) != 3 {
			t.Fatalf("%v, %v", hooks, problems)
		}
		for i, h := range hooks {
			if h.Timeout != want[i] {
				t.Errorf("with %v hook %d has %v, want %v", limit, i, h.Timeout, want[i])
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("../../../../testdata/familiar/*/AGENT.md")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		hooks, problems := Parse(agentFile, text, Options{})
		if len(hooks) > 0 && hook.Rejects(problems) {
			t.Fatalf("hooks in spite of %v", problems)
		}
		for _, p := range problems {
			if p.File != agentFile || p.Message == "" || p.Line < 0 || p.Line > 2+strings.Count(string(text), "\n") {
				t.Fatalf("problem %+v", p)
			}
		}
		for _, h := range hooks {
			if h.Agent == "" || h.Template == nil || h.Blocking == nil || h.Timeout <= 0 || events.LookupIn(events.Familiar, h.Patterns[0].Text) == nil {
				t.Fatalf("hook %+v", h)
			}
		}
	})
}

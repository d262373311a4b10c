package hookdir

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/hooks/hook"
)

const guardHead = "name: g\nevents: PreToolUse\ncommand: ./run.sh\n"

// The fields by which a guard is rehearsed and started come out as they were written.
func TestReadGuardFields(t *testing.T) {
	h, problems := Read(folder(t, guardHead+`shadow: true
mode: persistent
warm: false
blocking: false
debounce: 2s
throttle: 3/1m
when:
  - tool: Bash
    command: [git push, rm -rf]
  - path: [".env", "~/.ssh/", "/etc/*"]
  - prompt: deploy
    data.tool_input.n: 3
tests:
  - name: one
    event: PreToolUse
    tool: Bash
    cwd: /w
    dialect: claude-code
    data: {command: "git push", list: [1, {a: b}]}
    expect: deny
    reason: no
    context: yes-context
  - {expect: none}
`), Options{Home: "/home/u"})
	if h == nil || len(problems) > 0 {
		t.Fatal(problems)
	}
	if !h.Shadow || h.Warm == nil || *h.Warm || h.IsWarm() || h.Debounce != 2*time.Second ||
		h.Throttle != (hook.Rate{Runs: 3, Per: time.Minute}) {
		t.Errorf("got shadow %v, warm %v, debounce %v, throttle %v", h.Shadow, h.Warm, h.Debounce, h.Throttle)
	}
	var when []string
	for _, c := range h.When {
		when = append(when, c.String())
	}
	if want := []string{
		"tool: Bash, command: git push or rm -rf", "path: .env or ~/.ssh/ or /etc/*", "prompt: deploy, data.tool_input.n: 3",
	}; !slices.Equal(when, want) {
		t.Errorf("got %q, want %q", when, want)
	}
	for path, fits := range map[string]bool{
		"/a/.env": true, "/.env": true, "/home/u/.ssh/a/b": true, "/etc/x": true, "/etc/x/y": false, "/a/b.env": false,
	} {
		if got := pattern.MatchAny(h.When[1].Paths, path); got != fits {
			t.Errorf("%s: got %v, want %v", path, got, fits)
		}
	}
	one := h.Tests[0]
	if string(one.Data) != `{"command":"git push","list":[1,{"a":"b"}]}` || one.Expect != hook.ExpectDeny || one.Line != 17 ||
		one.Cwd != "/w" || one.Context != "yes-context" || one.Dialect != "claude-code" || h.Tests[1].Expect != hook.ExpectNone {
		t.Errorf("got %+v %s", one, one.Data)
	}
}

// Mistakes in them are told with their place, and the likely meaning.
func TestGuardFieldMistakes(t *testing.T) {
	for _, tt := range []struct{ name, yaml, want string }{
		{"when_empty", "when: []", "4:7: when is empty: the hook would never run"},
		{"when_text", "when: git push", "an element of when must be a mapping"},
		{"when_unknown", "when: [{comand: x}]", "unknown key `comand` in when, did you mean `command`? (it may have tool, command, path, prompt, data.PATH)"},
		{"when_pipe", "when: [{command: git push | sh}]", `bad when.command "git push | sh": | is no part of a command (write a program and the words behind it, such as git push)`},
		{"when_no_program", "when: [{command: ''}]", `bad when.command "": no program (write a program`},
		{"when_no_member", "when: [{}]", "a condition of when is empty"},
		{"when_list", "when: [{tool: {a: b}}]", "when.tool must be a string or a list of strings"},
		{"when_none", "when: [{tool: []}]", "when.tool is empty"},
		{"when_regex", "when: [{prompt: '('}]", `bad when.prompt "("`},
		{"when_glob", "when: [{path: '['}]", `bad when.path "["`},
		{"when_twice", "when: [{tool: a, tool: b}]", "duplicate key `tool`"},
		{"when_path", "when: [{data.: x}]", "unknown key `data.` in when"},
		{"tests_map", "tests: {expect: deny}", "must be a list of tests"},
		{"tests_expect", "tests: [{data: {}}]", "a test must say what it expects (write one of deny, ask, contain, allow, none, rewrite)"},
		{"tests_word", "tests: [{expect: denny}]", "unknown value `denny`, did you mean `deny`?"},
		{"tests_data", "tests: [{expect: deny, data: ls}]", "the data of a test must be a mapping"},
		{"tests_event", "tests: [{expect: deny, event: a b}]", "bad event of a test"},
		{"tests_dialect", "tests: [{expect: deny, dialect: claude}]", "unknown value `claude`"},
		{"tests_key", "tests: [{expect: deny, expct: deny}]", "warning 4:24: unknown key `expct`, did you mean `expect`?"},
		{"debounce", "blocking: false\ndebounce: -1s", "debounce -1s is out of range (write a time of at most 1h, such as 2s)"},
		{"debounce_long", "blocking: false\ndebounce: 2h", "debounce 2h is out of range (write a time of at most 1h, such as 2s)"},
		{"debounce_seconds", "blocking: false\ndebounce: 3601", "debounce 3601 is out of range (write a time of at most 1h, such as 2s)"},
		{"debounce_list", "blocking: false\ndebounce: [1s]", "debounce must be a duration, is a list (write 500ms, 5s, 2m, or a number of seconds)"},
		{"throttle_number", "blocking: false\nthrottle: 1", `bad throttle "1" (write runs and a time of at most 24h, such as 1/10s or 30/1m)`},
		{"throttle_list", "blocking: false\nthrottle: [1/1s]", "throttle must be a rate, is a list (write runs"},
		{"throttle", "blocking: false\nthrottle: 10s", `bad throttle "10s" (write runs and a time of at most 24h, such as 1/10s or 30/1m)`},
		{"throttle_none", "blocking: false\nthrottle: 0/10s", `bad throttle "0/10s"`},
		{"throttle_guard", "throttle: 1/10s", "warning 4:1: `throttle` is for observers"},
		{"debounce_guard", "debounce: 1s", "warning 4:1: `debounce` is for observers"},
		{"warm_spawn", "warm: true", "warning 4:1: `warm` is for mode persistent"},
		{"shadow_word", "shadow: 1", "must be true or false"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, guardHead+tt.yaml+"\n")
			_, problems := Read(dir, Options{})
			if got := strings.Join(said(dir, problems), "\n"); !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q in it", got, tt.want)
			}
		})
	}
}

// A guard that can never deny is told so where it is written.
func TestFutileGuards(t *testing.T) {
	opt := Options{KnownTools: func(p pattern.Pattern) (agents []AgentTools) {
		if p.Match("BeforeShell") {
			agents = append(agents, AgentTools{"lower", []string{"shell", "Bash"}})
		}
		if p.Match("PreToolUse") {
			agents = append(agents, AgentTools{"lower", []string{"shell", "Bash"}}, AgentTools{"upper", []string{"Shell", "Bash", "Write", "Edit", "NotebookEdit"}})
		}
		return agents
	}}
	const denying = "type: script\nscript: echo no >&2; exit 2\n"
	for _, tt := range []struct{ name, yaml, want string }{
		{"case", "events: PreToolUse\nmatcher: bash|Write\n" + denying, "matcher `bash` fits no tool: letter case counts (did you mean `Bash`?)"},
		{"case_of_one", "events: PreToolUse\nmatcher: shell\n" + denying, "matcher `shell` fits no tool of upper: letter case counts (did you mean `Shell`?)"},
		{"case_of_both", "events: PreToolUse\nmatcher: shell|Shell\n" + denying, ""},
		{"case_of_all", "events: BeforeShell\nmatcher: shell\n" + denying, ""},
		{"case_of_the_filter", "events: PreToolUse\nmatcher: shell\nfilter: {agents: [lower]}\n" + denying, ""},
		{"no_tool", "events: PreToolUse\nmatcher: Bosh\n" + denying, "matcher `Bosh` fits no tool that is known"},
		{"mcp", "events: PreToolUse\nmatcher: mcp__x__.*\n" + denying, ""},
		{"mcp_glob", "events: PreToolUse\nmatcher: mcp__*\n" + denying, "matcher `mcp__*` is a regular expression, not a glob: it does not fit `mcp__server__tool` (did you mean `mcp__.*`?)"},
		{"glob_of_several", "events: PreToolUse\nmatcher: Bash|mcp__github__*\n" + denying, "did you mean `mcp__github__.*`?"},
		{"glob_in_the_middle", "events: PreToolUse\nmatcher: mcp__*__write\n" + denying, "it does not fit `mcp__server__tool__write` (did you mean `mcp__.*__write`?)"},
		{"glob_of_files", "events: PreToolUse\nmatcher: Bash|Write*\n" + denying, "it does not fit `WriteFile` (did you mean `Write.*`?)"},
		{"regular_expression", "events: PreToolUse\nmatcher: mcp__.*__write*\n" + denying, ""},
		{"left_out", "events: PreToolUse\nmatcher: Bash|Write|Edit\n" + denying, "matcher `Bash|Write|Edit` has Write and Edit, and leaves out NotebookEdit, which changes files, too"},
		{"not_left_out", "events: PreToolUse\nmatcher: Write|Edit|NotebookEdit\n" + denying, ""},
		{"left_out_on_purpose", "events: PreToolUse\nmatcher: Write|Edit\nfilter: {exclude_tools: [NotebookEdit]}\n" + denying, ""},
		{"left_out_by_an_observer", "events: PreToolUse\nmatcher: Write|Edit\nblocking: false\ntype: script\nscript: cat >> log\n", ""},
		{"fits", "events: PreToolUse\nmatcher: (Bash|Edit)\n" + denying, ""},
		{"other_event", "events: Stop\nmatcher: Bosh\n" + denying, ""},
		{"filter", "events: PreToolUse\nfilter: {tools: [bash]}\n" + denying, "filter.tools names `bash`, which is no tool: letter case counts"},
		{"when", "events: PreToolUse\nwhen: [{tool: [Write, bash]}]\n" + denying, "when names `bash`, which is no tool: letter case counts"},
		{"rules", "rules:\n- {name: r, deny: {tool: bash}, why: w}\n", "rules names `bash`, which is no tool: letter case counts"},
		{"no_tool", "rules:\n- {name: bash, deny: {command: bash}, why: bash}\n", ""},
		{"wildcard_exit", "events: 'Pre*'\n" + denying, "`Pre*` has a wildcard, so the hook only observes"},
		{"wildcard_tests", "events: '*'\ntype: script\nscript: ./x\ntests: [{expect: deny, event: PreToolUse}]\n", "`*` has a wildcard"},
		{"wildcard_program", "events: '*'\ncommand: ./deny.py\nargs: []\n", "`*` has a wildcard"},
		{"wildcard_blocking", "events: 'Pre*'\nblocking: true\n" + denying, ""},
		{"wildcard_observing", "events: 'Pre*'\nblocking: false\n" + denying, ""},
		{"wildcard_log", "events: '*'\ntype: script\nscript: cat >> log\n", ""},
		{"wildcard_harmless", "events: 'agent:*'\n" + denying, ""},
		{"wildcard_and_name", "events: ['*', PreToolUse]\n" + denying, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, "name: g\n"+tt.yaml)
			hooktest.Write(t, filepath.Join(dir, "deny.py"), "#!/usr/bin/env python3\nprint('{\"decision\": \"block\"}')\n", 0o700)
			h, problems := Read(dir, opt)
			got := strings.Join(said(dir, problems), "\n")
			if h == nil || tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q in it", got, tt.want)
			}
		})
	}
}

// A number of seconds is bounded by its own field alone, not by the limit of a timeout.
func TestSecondsBeyondATimeout(t *testing.T) {
	h, problems := Read(folder(t, guardHead+"blocking: false\ndebounce: 1800\n"), Options{})
	if h == nil || len(problems) > 0 || h.Debounce != 30*time.Minute {
		t.Errorf("got %v, %v", h, problems)
	}
}

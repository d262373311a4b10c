package dockeragent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/hooks/hook"
)

func TestFromFlags(t *testing.T) {
	hooks := FromFlags(map[string][]string{
		"stop":          {"./bye.sh"},
		"pre_tool_use":  {"./a.sh", "  ", "./b.sh", "hookd bridge docker-agent"},
		"on_user_input": {},
		"turn_end":      {"there is no such flag"},
	}, "/home/u/project", opt)
	var got []string
	for _, h := range hooks {
		got = append(got, h.ID+" "+h.Patterns[0].Text+" "+h.ScriptText+" "+h.MatcherText)
	}
	want := []string{
		"--hook-pre-tool-use[0] pre_tool_use ./a.sh *",
		"--hook-pre-tool-use[2] pre_tool_use ./b.sh *",
		"--hook-stop[0] stop ./bye.sh ",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("hooks = %q, want %q", got, want)
	}
	h := hooks[0]
	if h.Agent != "" || h.Matcher != nil || h.Dir != "/home/u/project" || !h.InEventCwd || h.Timeout != time.Minute || h.Type != hook.Script || !*h.Blocking {
		t.Errorf("hook = %+v", h)
	}
	if h.Source.Type != FlagSourceType || h.Name != "hook-pre-tool-use[0]" || h.Called != "./a.sh" {
		t.Errorf("source %v, name %q, called %q", h.Source, h.Name, h.Called)
	}
}

func TestFlagsAreThoseOfSeed004(t *testing.T) {
	want := "[{hook-pre-tool-use pre_tool_use} {hook-post-tool-use post_tool_use} {hook-session-start session_start} {hook-session-end session_end} {hook-on-user-input on_user_input} {hook-stop stop}]"
	if got := fmt.Sprint(Flags()); got != want {
		t.Errorf("Flags() = %s, want %s", got, want)
	}
}

func TestAgentFlagsStandForBuiltins(t *testing.T) {
	hooks, problems := Parse("/a.yaml", []byte(`agents:
  root:
    add_date: true
    add_environment_info: true
    add_prompt_files: [GUIDE.md]
    redact_secrets: true
    snapshot: false
    toolsets:
      - {type: filesystem, safer: true}
      - {type: shell, safer: true}
    hooks:
      turn_start: {type: builtin, command: add_date}
  other: {add_date: null}
`), Options{Shell: "/bin/sh"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var got []string
	definitions := map[string]bool{}
	for _, h := range hooks {
		got = append(got, h.Patterns[0].Text+" "+h.Command+" "+h.Lane+" "+strings.Join(h.Args, ","))
		definitions[h.Patterns[0].Text+h.Definition] = true
	}
	want := []string{
		"turn_start add_date default ", "turn_start add_date default ", "session_start add_environment_info default ",
		"turn_start add_prompt_files default GUIDE.md", "pre_tool_use redact_secrets default ", "before_llm_call redact_secrets default ",
		"tool_response_transform redact_secrets default ", "pre_tool_use safer_shell preempt ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if len(definitions) != len(want)-1 {
		t.Errorf("%d definitions: the flag and the same hook spelt out are one", len(definitions))
	}
	if _, problems := Parse("/a.yaml", []byte("agents: {root: {redact_secrets: sure}}"), Options{}); len(problems) != 1 || problems[0].Warning {
		t.Errorf("problems = %v, want the flag rejected", problems)
	}
}

package dockeragent

import (
	"fmt"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/hook"
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
	if h.Source.Type != FlagSourceType || h.Name != "./a.sh" {
		t.Errorf("source %v, name %q", h.Source, h.Name)
	}
}

func TestFlagsAreThoseOfSeed004(t *testing.T) {
	want := "[{hook-pre-tool-use pre_tool_use} {hook-post-tool-use post_tool_use} {hook-session-start session_start} {hook-session-end session_end} {hook-on-user-input on_user_input} {hook-stop stop}]"
	if got := fmt.Sprint(Flags()); got != want {
		t.Errorf("Flags() = %s, want %s", got, want)
	}
}

package match

import (
	"regexp"
	"testing"

	"github.com/hookd/hookd/internal/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/match/matchtest"
)

// The sample has what the conditions of a hook ask for.
func TestSampleFitsConditions(t *testing.T) {
	for _, text := range []string{"git push", "terraform {apply,destroy}", "rm -rf", "kubectl de*"} {
		h := matchtest.Hook("h", "PreToolUse")
		command, err := hook.CompileCommand(text)
		if err != nil {
			t.Fatal(err)
		}
		h.When = []hook.Condition{{Commands: []hook.CommandPattern{command}}}
		env := Sample(h, events.Envelope{Event: "PreToolUse"})
		e := &events.Event{Envelope: env, Contract: events.For("", "PreToolUse")}
		if _, why := NewSingle(h, nil).Match(e); why != "" {
			t.Errorf("%s: %s: %s", text, env.Data, why)
		}
	}
}

// A hook runs for the sample that is made for it, and the sample speaks the
// language of the agent.
func TestSample(t *testing.T) {
	for _, test := range []struct {
		event   string
		dialect events.Dialect
		matcher string
		tools   []string
		want    string // tool
	}{
		{"PreToolUse", "claude-code", "", nil, "Bash"},
		{"PreToolUse", "claude-code", "Bash", nil, "Bash"},
		{"PreToolUse", "claude-code", "Edit|Write", nil, "Edit"},
		{"PostToolUse", "claude-code", "^(Write|Edit)$", nil, "Write"},
		{"PreToolUse", "claude-code", "mcp__.*", nil, "mcp__example"},
		{"BeforeTool", "gemini-cli", "", nil, "run_shell_command"},
		{"BeforeTool", "gemini-cli", "", []string{"write_file"}, "write_file"},
		{"pre_tool_use", "docker-agent", "shell", nil, "shell"},
		{"pre_tool_use", "docker-agent", "", []string{"Bash"}, "Bash"},
		{"preToolUse", "copilot", "", nil, "bash"},
	} {
		p, err := hook.CompilePattern(test.event)
		if err != nil {
			t.Fatal(err)
		}
		h := &hook.Hook{Name: "h", Patterns: []hook.Pattern{p}, MatcherText: test.matcher, Filter: hook.Filter{Tools: test.tools}}
		if test.matcher != "" {
			h.Matcher = regexp.MustCompile("^(?:" + test.matcher + ")$")
		}
		env := Sample(h, events.Envelope{Event: test.event, Dialect: test.dialect})
		c := events.For(env.Dialect, env.Event)
		e := &events.Event{Envelope: env, Contract: c}
		if _, why := NewSingle(h, nil).Match(e); why != "" {
			t.Errorf("%s %s %q: the hook does not run for %s: %s", test.dialect, test.event, test.matcher, env.Data, why)
		}
		if names := dialect.ToolNames(e); len(names) == 0 || names[0] != test.want {
			t.Errorf("%s %s %q: got %v, want %s", test.dialect, test.event, test.matcher, names, test.want)
		}
	}
}

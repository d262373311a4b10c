package match

import (
	"github.com/hookd/hookd/internal/facts"
	"regexp"
	"testing"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
)

// The sample has the values that the conditions of a hook ask for.
func TestSampleFitsConditions(t *testing.T) {
	for _, text := range []string{"git push", "terraform {apply,destroy}", "rm -rf", "kubectl de*"} {
		h := matchtest.Hook("h", "PreToolUse")
		command, err := facts.ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		h.When = []hook.Condition{{Commands: []facts.CommandPattern{command}}}
		env := Sample(h, events.Envelope{Event: "PreToolUse"}, "")
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
		p, err := pattern.Compile(test.event)
		if err != nil {
			t.Fatal(err)
		}
		h := &hook.Hook{Name: "h", Patterns: []pattern.Pattern{p}, MatcherText: test.matcher, Filter: hook.Filter{Tools: test.tools}}
		if test.matcher != "" {
			h.Matcher = regexp.MustCompile("^(?:" + test.matcher + ")$")
		}
		env := Sample(h, events.Envelope{Event: test.event, Dialect: test.dialect}, "")
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

// The arguments of a call alone are a call of the tool that takes them, by the name that the agent
// has for it; everything else stays as it is.
func TestWhole(t *testing.T) {
	for _, test := range []struct {
		event   string
		dialect events.Dialect
		tool    string
		data    string
		want    string // "" = it stays
	}{
		{"PreToolUse", "", "", `{"command":"rm -rf /"}`, `{"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}`},
		{"PreToolUse", "codex", "", `{"command":"ls"}`, `{"tool_name":"Bash","tool_input":{"command":"ls"}}`},
		{"pre_tool_use", "", "", `{"cmd":"ls"}`, `{"tool_name":"shell","tool_input":{"cmd":"ls"}}`},
		{"BeforeTool", "gemini-cli", "", `{"command":"ls"}`, `{"tool_name":"run_shell_command","tool_input":{"command":"ls"}}`},
		{"BeforeTool", "gemini-cli", "", `{"file_path":"/a","content":"x"}`, `{"tool_name":"write_file","tool_input":{"file_path":"/a","content":"x"}}`},
		{"PreToolUse", "", "", `{"notebook_path":"/a.ipynb"}`, `{"tool_name":"NotebookEdit","tool_input":{"notebook_path":"/a.ipynb"}}`},
		{"PreToolUse", "", "mcp__db__query", `{"sql":"drop"}`, `{"tool_name":"mcp__db__query","tool_input":{"sql":"drop"}}`},
		{"PreToolUse", "", "Write", ``, `{"tool_name":"Write","tool_input":{}}`},
		{"PreToolUse", "", "Write", `{"tool_name":"Edit","tool_input":{"file_path":"/a"}}`, `{"tool_name":"Write","tool_input":{"file_path":"/a"}}`},
		{"PreToolUse", "", "", `{"tool_name":"Bash","tool_input":{"command":"ls"}}`, ``},
		{"PreToolUse", "", "", `{"tool_input":{"command":"ls"}}`, ``},
		{"PreToolUse", "", "", `{"session_id":"s"}`, ``},
		{"PreToolUse", "", "", `{}`, ``},
		{"UserPromptSubmit", "", "", `{"command":"ls"}`, ``},
		{"agent:end", "", "", `{"command":"ls"}`, ``},
	} {
		env := events.Envelope{Event: test.event, Dialect: test.dialect, Data: []byte(test.data)}
		got, changed := Whole(env, test.tool)
		want := test.want
		if want == "" {
			want = test.data
		}
		if string(got.Data) != want || changed != (test.want != "") {
			t.Errorf("%s of %s, %q, %s: got %s %v", test.event, test.dialect, test.tool, test.data, got.Data, changed)
		}
	}
}

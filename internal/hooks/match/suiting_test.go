package match

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
)

// A name that stands for a part of its kind is matched by that part alone.
func TestNamesOfAPartOfTheirKind(t *testing.T) {
	for _, tt := range []struct {
		name, patterns string
		from, event    string
		data           string
		given          string // "" = does not run
	}{
		{"success", "PostToolUseFailure", "docker-agent", "post_tool_use", `{"tool_name":"shell","tool_error":false}`, ""},
		{"failure", "PostToolUseFailure", "docker-agent", "post_tool_use", `{"tool_name":"shell","tool_error":true}`, "PostToolUseFailure"},
		{"success_of_claude", "PostToolUseFailure", "claude-code", "PostToolUse", `{"tool_name":"Bash"}`, ""},
		{"failure_by_name", "PostToolUseFailure", "claude-code", "PostToolUseFailure", `{"tool_name":"Bash","error":"e"}`, "PostToolUseFailure"},
		{"failure_of_another", "PostToolUseFailure", "copilot", "postToolUseFailure", `{"toolName":"bash"}`, "PostToolUseFailure"},
		{"failure_by_error", "postToolUseFailure", "gemini-cli", "AfterTool", `{"tool_name":"run_shell_command","tool_response":{"error":"e"}}`, "postToolUseFailure"},
		{"failure_is_a_call", "PostToolUse", "claude-code", "PostToolUseFailure", `{"tool_name":"Bash"}`, "PostToolUse"},
		{"shell", "beforeShellExecution", "claude-code", "PreToolUse", `{"tool_name":"Bash","tool_input":{"command":"ls"}}`, "beforeShellExecution"},
		{"shell_by_its_own_name", "beforeShellExecution", "gemini-cli", "BeforeTool", `{"tool_name":"run_shell_command"}`, "beforeShellExecution"},
		{"no_shell", "beforeShellExecution", "claude-code", "PreToolUse", `{"tool_name":"Read"}`, ""},
		{"no_tool", "beforeShellExecution", "claude-code", "PreToolUse", `{}`, ""},
		{"shell_emitted", "beforeShellExecution", "cursor", "beforeShellExecution", `{"command":"ls"}`, "beforeShellExecution"},
		{"mcp", "beforeMCPExecution", "claude-code", "PreToolUse", `{"tool_name":"mcp__gh__make"}`, "beforeMCPExecution"},
		{"no_mcp", "beforeMCPExecution", "cursor", "beforeShellExecution", `{"command":"ls"}`, ""},
		{"read", "pre_read_code", "opencode", "tool.execute.before", `{"tool":"read"}`, "pre_read_code"},
		{"write", "pre_write_code", "claude-code", "PreToolUse", `{"tool_name":"Edit"}`, "pre_write_code"},
		{"next_name", "beforeMCPExecution pre_tool_use", "claude-code", "PreToolUse", `{"tool_name":"Bash"}`, "pre_tool_use"},
		{"next_part", "beforeMCPExecution beforeShellExecution", "claude-code", "PreToolUse", `{"tool_name":"Bash"}`, "beforeShellExecution"},
		{"glob", "before*", "claude-code", "PreToolUse", `{"tool_name":"Grep"}`, "beforeToolCall"},
		{"everything", "*", "claude-code", "PostToolUse", `{"tool_name":"Bash"}`, "PostToolUse"},
		{"error", "StopFailure", "docker-agent", "on_error", `{}`, "StopFailure"},
		{"stop_is_no_error", "StopFailure", "claude-code", "Stop", `{}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			snap := matchtest.Snapshot(matchtest.Hook("h", strings.Fields(tt.patterns)...))
			env := events.Envelope{Event: tt.event, Dialect: events.Dialect(tt.from), Data: json.RawMessage(tt.data)}
			d := Explain(snap, env, "", nil)[0]
			if d.Runs != (tt.given != "") || d.Given != tt.given && d.Runs || d.Why == "" != d.Runs {
				t.Errorf("Explain: runs %v, given %q (%s), want %q", d.Runs, d.Given, d.Why, tt.given)
			}
			e := &events.Event{Envelope: env, Contract: events.For(env.Dialect, env.Event)}
			ms := New(snap, Options{}).Match(e)
			if (len(ms) == 1) != d.Runs || len(ms) == 1 && (ms[0].Given != tt.given || ms[0].Generation != snap.Generation || ms[0].Blocks != d.Blocks) {
				t.Errorf("match: got %+v, want %q", ms, tt.given)
			}
		})
	}
}

package daemon

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
)

// toolCalls are a shell call of each agent, before and after: CMD and OUT stand
// for the command and its output, as JSON strings.
var toolCalls = []struct {
	dialect             events.Dialect
	before, beforeCalls string // events, separated by blanks, and their payload
	after, afterCalls   string
}{
	{events.DockerAgent, "pre_tool_use", `{"session_id":"s","tool_name":"shell","tool_input":{"cmd":CMD}}`,
		"tool_response_transform", `{"session_id":"s","tool_name":"shell","tool_category":"shell","tool_input":{"cmd":"x"},"tool_response":OUT}`},
	{events.ClaudeCode, "PreToolUse", `{"session_id":"s","tool_name":"Bash","tool_input":{"command":CMD}}`,
		"PostToolUse", `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"x"},"tool_response":{"stdout":OUT,"stderr":"","interrupted":false}}`},
	{events.Codex, "PreToolUse", `{"session_id":"s","tool_name":"Bash","tool_input":{"command":CMD}}`, "", ""},
	{
		events.GeminiCLI,
		"BeforeTool",
		`{"session_id":"s","tool_name":"run_shell_command","tool_input":{"command":CMD}}`,
		"",
		"",
	},
	{events.Cursor, "preToolUse", `{"conversation_id":"s","tool_name":"Shell","tool_input":{"command":CMD}}`,
		"postToolUse", `{"conversation_id":"s","tool_name":"MCP:x","tool_input":{},"tool_output":OUT}`},
	{events.Cursor, "beforeShellExecution", `{"conversation_id":"s","command":CMD}`, "", ""},
	{events.Copilot, "preToolUse", `{"sessionId":"s","toolName":"bash","toolArgs":{"command":CMD}}`,
		"postToolUse", `{"sessionId":"s","toolName":"bash","toolArgs":{"command":"x"},"toolResult":{"resultType":"success","textResultForLlm":OUT}}`},
	{events.Kimi, "PreToolUse", `{"session_id":"s","tool_name":"Shell","tool_input":{"command":CMD}}`, "", ""},
	{events.Windsurf, "pre_run_command", `{"trajectory_id":"s","tool_info":{"command_line":CMD}}`, "", ""},
	{
		events.Cline,
		"PreToolUse",
		`{"taskId":"s","preToolUse":{"toolName":"execute_command","parameters":{"command":CMD}}}`,
		"",
		"",
	},
	{
		events.Antigravity,
		"PreToolUse",
		`{"conversationId":"s","toolCall":{"name":"run_command","args":{"CommandLine":CMD}}}`,
		"",
		"",
	},
	{events.Hermes, "pre_tool_call", `{"session_id":"s","tool_name":"terminal","tool_input":{"command":CMD}}`, "", ""},
	{events.OpenCode, "tool.execute.before", `{"sessionID":"s","tool":"bash","args":{"command":CMD}}`, "", ""},
	{events.OpenClaw, "before_tool_call", `{"sessionId":"s","toolName":"exec","params":{"command":CMD}}`, "", ""},
	{"some-agent", "pre_tool_use", `{"session_id":"s","tool_name":"bash","tool_input":{"command":CMD}}`,
		"tool_response_transform", `{"session_id":"s","tool_name":"bash","tool_response":OUT}`},
}

// Built-ins do their work for every agent, whatever name of the event the hook
// lists, and their answer is in the agent's own words.
func TestBuiltinsKnowEveryAgentByAnyName(t *testing.T) {
	token := "ghp_" + strings.Repeat("aB3dE5", 6)
	for _, names := range []string{"preToolUse, pre_run_command, postToolUse", "PreToolUse, PostToolUse, tool_response_transform", "pre_tool_use, tool_response_transform, post_tool_use",
		"BeforeTool, AfterTool, transform_tool_result, tool_response_transform", "before_tool_call, tool.execute.before, tool_response_transform, postToolUse"} {
		t.Run(names, func(t *testing.T) {
			home := newHome(t)
			for _, name := range []string{"safer_shell", "redact_secrets", "limit_large_tool_results"} {
				dir := filepath.Join(home, "hooks", name)
				writeHook(t, home, name, "", "")
				writeFile(
					t,
					filepath.Join(dir, "HOOK.yaml"),
					"name: "+name+"\ntype: builtin\ncommand: "+name+"\nevents: ["+names+"]\n",
					0o644,
				)
			}
			h := start(t, home, func(c *config.Config) { c.FireStartup = false })
			emit := func(d events.Dialect, event, payload, key, value string) client.Answer {
				t.Helper()
				data := strings.ReplaceAll(payload, key, string(rawjson.Quote(value)))
				a, err := h.client.Emit(
					t.Context(),
					client.Event{Event: event, Dialect: client.Dialect(d), Data: json.RawMessage(data), Wait: true},
				)
				if err != nil {
					t.Fatal(err)
				}
				return a
			}
			for _, call := range toolCalls {
				row := events.For(call.dialect, call.before)
				if !goesBy(row, names) {
					continue
				}
				a := emit(call.dialect, call.before, call.beforeCalls, "CMD", "rm -rf /var/x")
				if a.Verdict.PermissionDecision != "ask" || !slices.Contains(a.Verdict.DecidedBy, "safer_shell") {
					t.Errorf("%s %s: safer_shell does not ask: %+v", call.dialect, call.before, a.Verdict)
				}
				a = emit(call.dialect, call.before, call.beforeCalls, "CMD", "echo "+token)
				switch {
				case row.Rewrite != events.RewriteInput:
					if !strings.Contains(a.Verdict.SystemMessage, "secret material") ||
						strings.Contains(a.Verdict.SystemMessage, token) {
						t.Errorf("%s %s: redact_secrets says nothing: %+v", call.dialect, call.before, a.Verdict)
					}
				default:
					e := &events.Event{Contract: row}
					e.Dialect = call.dialect
					e.Data = rawjson.With(
						json.RawMessage(strings.ReplaceAll(call.beforeCalls, "CMD", `"?"`)),
						rawjson.Member{Key: row.Target, Value: a.Verdict.UpdatedInput},
					)
					if row.Dialect == events.Antigravity || a.Verdict.UpdatedInput == nil {
						t.Errorf("%s %s: no rewrite: %+v", call.dialect, call.before, a.Verdict)
					} else if lines := dialect.Call(e).Commands(); !slices.Contains(lines, "echo [REDACTED]") || bytes.Contains(a.Verdict.UpdatedInput, []byte(token)) {
						t.Errorf("%s %s: the agent executes %q: %s", call.dialect, call.before, lines, a.Verdict.UpdatedInput)
					}
				}
			}
			for _, call := range toolCalls {
				if call.after == "" || !goesBy(events.For(call.dialect, call.after), names) {
					continue
				}
				a := emit(call.dialect, call.after, call.afterCalls, "OUT", strings.Repeat("a line\n", 3000)+token)
				if is := a.Verdict.UpdatedToolResponse; is == nil || bytes.Contains(is, []byte(token)) ||
					!bytes.Contains(is, []byte("[REDACTED]")) ||
					!bytes.Contains(is, []byte("too large")) {
					t.Errorf("%s %s: the result is not limited and redacted: %.300s", call.dialect, call.after, is)
				} else if was := call.afterCalls[strings.Index(call.afterCalls, "OUT")-1]; was == ':' && is[0] != '{' && strings.Contains(call.afterCalls, `"stdout"`) {
					t.Errorf("%s %s: the result has another shape: %.100s", call.dialect, call.after, is)
				}
			}
		})
	}
}

// goesBy reports whether an event of row goes by one of the names, and for an
// event about a part of its kind all the same.
func goesBy(row *events.Contract, names string) bool {
	return slices.ContainsFunc(row.Aliases(), func(other *events.Contract) bool {
		return slices.Contains(strings.Split(names, ", "), other.Name) &&
			(other.Tools == "" || strings.Contains(other.Tools, "Bash")) &&
			other.Dialect != events.LibreFang
	})
}

// A built-in that its time has run out for is not recorded as if all was well,
// whatever it had by then: git waits for ever for a pipe in the place of a file.
func TestBuiltinThatIsTooLate(t *testing.T) {
	hooktest.NeedTool(t, "git")
	home, repo := newHome(t), t.TempDir()
	if out, err := exec.Command("git", "init", "-q", repo).CombinedOutput(); err != nil {
		t.Fatalf("git: %v, %s", err, out)
	}
	if err := syscall.Mkfifo(filepath.Join(repo, ".gitignore"), 0o600); err != nil {
		t.Fatal(err)
	}
	builtins := []string{"add_git_status", "add_git_diff"}
	for _, name := range builtins {
		writeFile(t, filepath.Join(home, "hooks", name, "HOOK.yaml"), "name: "+name+"\nevents: [turn_start]\ntype: builtin\ncommand: "+name+"\ntimeout: 300ms\n", 0o644)
	}
	h := start(t, home, nil)
	answer := h.emit(`{"event":"turn_start","wait":true,"cwd":` + strconv.Quote(repo) + `}`)
	late := 0
	for _, run := range answer.Runs {
		if run.Result == client.ResultTimeout {
			late++
		}
	}
	if len(answer.Runs) != len(builtins) || late == 0 {
		t.Errorf("got %+v, want a timeout", answer.Runs)
	}
}

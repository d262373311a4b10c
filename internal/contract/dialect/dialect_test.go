package dialect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// event makes an accepted event.
func event(t testing.TB, d events.Dialect, name, data string) *events.Event {
	t.Helper()
	line, err := json.Marshal(events.Envelope{Event: name, Dialect: d, Data: json.RawMessage(data)})
	if err != nil {
		t.Fatal(err)
	}
	env, bad := events.Parse(line)
	if bad != nil {
		t.Fatal(bad)
	}
	return &events.Event{Envelope: env, EventID: "E", Time: time.Unix(0, 0), Contract: events.For(d, name)}
}

// plugged are the agents that take a plugin and not the bridge.
var plugged = []events.Dialect{events.OpenCode, events.OpenClaw, events.Pi, events.Kilo, events.Amp}

func TestEveryDialectIsListed(t *testing.T) {
	for _, d := range events.Dialects() {
		if d == events.Hookd {
			continue
		}
		a := Agent(d)
		if a == nil {
			t.Errorf("%s is not listed", d)
			continue
		}
		if !slices.Contains(plugged, d) && (a.Answer == nil || a.Timeout == nil) || len(a.Table.Rows) == 0 || a.Replaces != nil && a.ResultField == "" {
			t.Errorf("%s is incomplete", d)
		}
		for _, r := range a.Table.Rows {
			for _, name := range strings.Fields(r.Events) {
				if events.LookupIn(d, name) == nil {
					t.Errorf("%s: row %s names event %s, which it has not", d, r.Field, name)
				}
			}
		}
		for _, x := range a.Table.Fixed {
			for _, name := range strings.Fields(x.Events) {
				if events.LookupIn(d, name) == nil || !json.Valid([]byte(x.Value)) {
					t.Errorf("%s: %s is fixed to %s for %s", d, x.Fact, x.Value, name)
				}
			}
		}
	}
	if got := len(Agents()); got != len(events.Dialects())-1-len(plugged) || !slices.IsSorted(Agents()) {
		t.Errorf("got %d agents", got)
	}
}

func TestPayload(t *testing.T) {
	minute := func(string) (time.Duration, bool) { return time.Minute, true }
	for _, tt := range []struct {
		name, from, event, data, given string
		since                          Since
		want                           string
	}{
		{"own_name", "gemini-cli", "BeforeTool", `{"tool_name":"run_shell_command"}`, "BeforeTool", nil, `{"tool_name":"run_shell_command"}`},
		{"no_name_of_the_kind", "gemini-cli", "BeforeTool", `{"a":1}`, "SessionStart", nil, `{"a":1}`},
		{"claude_from_gemini", "gemini-cli", "BeforeTool", `{"session_id":"s","cwd":"/w","hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"ls"}}`, "PreToolUse", nil,
			`{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"emitted":{"session_id":"s","cwd":"/w","hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"ls"}}}`},
		{"claude_from_docker", "docker-agent", "pre_tool_use", `{"tool_name":"shell","tool_input":{"cmd":"ls","cwd":"."}}`, "PreToolUse", nil,
			`{"tool_name":"Bash","tool_input":{"command":"ls","cwd":"."},"hook_event_name":"PreToolUse","emitted":{"tool_name":"shell","tool_input":{"cmd":"ls","cwd":"."}}}`},
		{"docker_from_claude", "claude-code", "PreToolUse", `{"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t"}`, "pre_tool_use", nil,
			`{"tool_name":"shell","tool_input":{"cmd":"ls"},"tool_use_id":"t","hook_event_name":"pre_tool_use","emitted":{"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t"}}`},
		{"claude_from_windsurf", "windsurf", "pre_run_command", `{"trajectory_id":"t","tool_info":{"command_line":"ls","cwd":"/w"}}`, "PreToolUse", nil,
			`{"trajectory_id":"t","tool_info":{"command_line":"ls","cwd":"/w"},"session_id":"t","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`},
		{"windsurf_from_claude", "claude-code", "PreToolUse", `{"session_id":"s","cwd":"/w","tool_name":"Bash","tool_input":{"command":"ls"}}`, "pre_run_command", nil,
			`{"session_id":"s","cwd":"/w","tool_name":"Bash","tool_input":{"command":"ls"},"trajectory_id":"s","agent_action_name":"pre_run_command","tool_info":{"cwd":"/w","command_line":"ls"}}`},
		{"cursor_shell", "cursor", "beforeShellExecution", `{"conversation_id":"c","command":"ls","cwd":"/w"}`, "PreToolUse", nil,
			`{"conversation_id":"c","command":"ls","cwd":"/w","session_id":"c","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`},
		{"cursor_mcp", "cursor", "beforeMCPExecution", `{"tool_name":"MCP:make","mcp_server_name":"gh","tool_input":"{\"a\":1}"}`, "PreToolUse", nil,
			`{"tool_name":"mcp__gh__make","mcp_server_name":"gh","tool_input":{"a":1},"hook_event_name":"PreToolUse","emitted":{"tool_name":"MCP:make","mcp_server_name":"gh","tool_input":"{\"a\":1}"}}`},
		{"familiar_from_claude", "claude-code", "PostToolUse", `{"session_id":"s","cwd":"/w","tool_name":"Bash","tool_response":{"stdout":"hi","stderr":""},"duration_ms":3}`, "afterToolCall", nil,
			`{"session_id":"s","cwd":"/w","tool_name":"Bash","tool_response":{"stdout":"hi","stderr":""},"duration_ms":3,"conversation_id":"s","workspace":"/w","tool_result":"hi","tool_success":true,"tool_duration_ms":3}`},
		{"docker_failure", "claude-code", "PostToolUseFailure", `{"tool_name":"Read","error":"no such file"}`, "post_tool_use", nil,
			`{"tool_name":"read_file","error":"no such file","hook_event_name":"post_tool_use","tool_response":"no such file","tool_error":true,"emitted":{"tool_name":"Read","error":"no such file"}}`},
		{"agent_end", "claude-code", "Stop", `{"session_id":"s","last_assistant_message":"done"}`, "agent:end", minute,
			`{"session_id":"s","last_assistant_message":"done","agent_id":"` + neutral.AgentUUID("claude-code", "s") + `","status":"ok","duration_ms":60000,"response_preview":"done","tokens_used":null,"steps":null}`},
		{"agent_end_error", "claude-code", "StopFailure", `{"session_id":"s","error":"rate_limit"}`, "agent:end", nil,
			`{"session_id":"s","error":"rate_limit","agent_id":"` + neutral.AgentUUID("claude-code", "s") + `","status":"error","tokens_used":null,"steps":null,"duration_ms":null,"response_preview":null}`},
		{"agent_start", "codex", "UserPromptSubmit", `{"session_id":"s","agent_id":"mine","prompt":"hi"}`, "agent:start", nil,
			`{"session_id":"s","agent_id":"mine","prompt":"hi","sender":"user","message_preview":"hi"}`},
		{"no_session", "codex", "UserPromptSubmit", `{}`, "agent:start", nil,
			`{"sender":"user","agent_id":null,"session_id":null,"message_preview":null}`},
		{"session_start", "gemini-cli", "SessionStart", `{"session_id":"s"}`, "session:start", nil,
			`{"session_id":"s","agent_id":"` + neutral.AgentUUID("gemini-cli", "s") + `"}`},
		{"transform", "docker-agent", "tool_response_transform", `{"session_id":"s","tool_name":"shell","tool_input":{"cmd":"ls"},"tool_response":"out"}`, "transform_tool_result", nil,
			`{"session_id":"s","tool_name":"shell_exec","tool_input":{"command":"ls"},"tool_response":"out","agent_id":"` + neutral.AgentUUID("docker-agent", "s") + `","tool_output":"out","emitted":{"session_id":"s","tool_name":"shell","tool_input":{"cmd":"ls"},"tool_response":"out"}}`},
		{"stop_from_librefang", "librefang", "agent:end", `{"session_id":"s","status":"ok","response_preview":"done"}`, "Stop", nil,
			`{"session_id":"s","status":"ok","response_preview":"done","hook_event_name":"Stop","last_assistant_message":"done"}`},
		{"shared_name_is_librefangs", "claude-code", "SessionEnd", `{"session_id":"s"}`, "session:end", nil,
			`{"session_id":"s","agent_id":"` + neutral.AgentUUID("claude-code", "s") + `"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := event(t, events.Dialect(tt.from), tt.event, tt.data)
			if got := string(Payload(e, tt.given, tt.since)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Whatever an agent sends, under each name that its event goes by: the payload
// is an object with every field that was sent, and all of the event is there.
func TestPayloadLosesNothing(t *testing.T) {
	files, err := filepath.Glob("*/testdata/*/*.json")
	if err != nil || len(files) < 100 {
		t.Fatalf("got %d payloads, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".json"), "-")
		e := event(t, events.Dialect(filepath.Base(filepath.Dir(file))), name, string(text))
		for _, row := range e.Contract.Aliases() {
			loses(t, e, row)
		}
	}
}

func loses(t *testing.T, e *events.Event, row *events.Contract) {
	t.Helper()
	got := Payload(e, row.Name, nil)
	at := string(e.Contract.Dialect) + " " + e.Contract.Name + " as " + row.Name
	if !json.Valid(got) {
		t.Fatalf("%s: %s is no JSON", at, got)
	}
	whole := rawjson.Get(got, "emitted")
	for key, value := range rawjson.Members(e.Data) {
		is := rawjson.Get(got, key)
		if is == nil || string(is) != string(value) && string(whole) != string(e.Data) {
			t.Errorf("%s: field %s was %s, is %s, and emitted is %s", at, key, value, is, whole)
		}
	}
	if row = rowOf(e.Contract, row.Name); row.Dialect == events.LibreFang {
		for _, f := range row.Fields {
			if rawjson.Get(got, f.Name) == nil {
				t.Errorf("%s: no field %s in %s", at, f.Name, got)
			}
		}
	}
}

func TestToolNames(t *testing.T) {
	for _, tt := range []struct{ from, event, data, want string }{
		{"claude-code", "PreToolUse", `{"tool_name":"Bash"}`, "Bash"},
		{"docker-agent", "pre_tool_use", `{"tool_name":"shell"}`, "shell Bash"},
		{"gemini-cli", "BeforeTool", `{"tool_name":"run_shell_command"}`, "run_shell_command Bash"},
		{"gemini-cli", "BeforeTool", `{"tool_name":"mcp_gh_make","mcp_context":{"server_name":"gh","tool_name":"make"}}`, "mcp_gh_make mcp__gh__make"},
		{"copilot", "preToolUse", `{"toolName":"bash"}`, "bash Bash"},
		{"codex", "PreToolUse", `{"tool_name":"apply_patch"}`, "apply_patch Edit Write"},
		{"cursor", "beforeShellExecution", `{"command":"ls"}`, "Shell Bash"},
		{"cursor", "beforeReadFile", `{"file_path":"/a"}`, "Read"},
		{"windsurf", "pre_run_command", `{"tool_info":{"command_line":"ls"}}`, "run_command Bash"},
		{"cline", "PreToolUse", `{"preToolUse":{"toolName":"execute_command"}}`, "execute_command Bash"},
		{"cline", "PreToolUse", `{"preToolUse":{"toolName":"use_mcp_tool","parameters":{"server_name":"gh","tool_name":"make"}}}`, "use_mcp_tool mcp__gh__make"},
		{"antigravity", "PreToolUse", `{"toolCall":{"name":"run_command"}}`, "run_command Bash"},
		{"hermes", "pre_tool_call", `{"tool_name":"terminal"}`, "terminal Bash"},
		{"kimi", "PreToolUse", `{"tool_name":"Shell"}`, "Shell Bash"},
		{"opencode", "tool.execute.before", `{"tool":"bash"}`, "bash Bash"},
		{"openclaw", "before_tool_call", `{"toolName":"exec"}`, "exec Bash"},
		{"gemini-cli", "tool_response_transform", `{"tool_name":"run_shell_command","tool_response":"x"}`, "run_shell_command Bash"},
		{"docker-agent", "tool_response_transform", `{"tool_name":"run_shell_command","tool_response":"x"}`, "run_shell_command Bash"}, // from some bridge
		{"my-agent", "pre_tool_use", `{"tool_name":"shell"}`, "shell Bash"},
		{"claude-code", "Stop", `{}`, ""},
		{"", "my:event", `{"tool_name":"x"}`, "x"},
	} {
		if got := strings.Join(ToolNames(event(t, events.Dialect(tt.from), tt.event, tt.data)), " "); got != tt.want {
			t.Errorf("%s %s %s: got %q, want %q", tt.from, tt.event, tt.data, got, tt.want)
		}
	}
}

// The event that is made of a tool.after has docker-agent's fields, and the
// names and the id of the agent that it came from.
func TestTransform(t *testing.T) {
	e := event(t, events.Copilot, "postToolUse", `{"sessionId":"s","toolName":"bash","toolArgs":{"command":"env"},"toolResult":{"textResultForLlm":"out"}}`)
	e.SessionID, e.ID, e.Wait = "s", "mine", true
	env := Transform(e, rawjson.Get(e.Data, "toolResult"))
	want := `{"sessionId":"s","toolName":"bash","toolArgs":{"command":"env"},"toolResult":{"textResultForLlm":"out"},"tool_name":"bash","tool_input":{"command":"env"},"tool_response":"out"}`
	if string(env.Data) != want || env.Event != "tool_response_transform" || env.ID != "" || env.AgentID != neutral.AgentUUID(events.Copilot, "s") || env.SessionID != "s" {
		t.Errorf("got %+v\n%s", env, env.Data)
	}
	if e.ID != "mine" || e.Envelope.Event != "postToolUse" {
		t.Errorf("Transform changed the event: %+v", e)
	}
}

// A hook that was given a call in another dialect's words rewrites it in them.
func TestAnswerIsInTheEventsWords(t *testing.T) {
	for _, tt := range []struct{ from, event, data, given, input, want string }{
		{"docker-agent", "pre_tool_use", `{"tool_name":"shell","tool_input":{"cmd":"ls"}}`, "PreToolUse", `{"command":"ls -l"}`, `{"cmd":"ls -l"}`},
		{"claude-code", "PreToolUse", `{"tool_name":"Bash","tool_input":{"command":"ls"}}`, "pre_tool_use", `{"cmd":"ls -l"}`, `{"command":"ls -l"}`},
		{"claude-code", "PreToolUse", `{"tool_name":"Bash","tool_input":{"command":"ls"}}`, "PreToolUse", `{"cmd":"ls -l"}`, `{"cmd":"ls -l"}`},
		{"copilot", "preToolUse", `{"toolName":"create","toolArgs":{"path":"/a","file_text":"x"}}`, "PreToolUse", `{"content":"y"}`, `{"file_text":"y"}`},
		{"opencode", "tool.execute.before", `{"tool":"edit","args":{"filePath":"/a"}}`, "PreToolUse", `{"file_path":"/b","old_string":"x"}`, `{"filePath":"/b","oldString":"x"}`},
		{"gemini-cli", "BeforeTool", `{"tool_name":"other","tool_input":{}}`, "PreToolUse", `{"a":1}`, `{"a":1}`},
	} {
		e := event(t, events.Dialect(tt.from), tt.event, tt.data)
		a := Answer(e, tt.given, verdict.Answer{UpdatedInput: json.RawMessage(tt.input)})
		if string(a.UpdatedInput) != tt.want {
			t.Errorf("%s given %s: got %s, want %s", tt.event, tt.given, a.UpdatedInput, tt.want)
		}
	}
	e := event(t, events.DockerAgent, "pre_tool_use", `{"tool_name":"shell"}`)
	if a := Answer(e, "PreToolUse", verdict.Answer{Reason: "r"}); a.UpdatedInput != nil || a.Reason != "r" {
		t.Errorf("without a rewrite: got %+v", a)
	}
}

// Computed with Python's uuid.uuid5(uuid.NAMESPACE_URL, …).
func TestAgentUUID(t *testing.T) {
	if got, want := neutral.AgentUUID("claude-code", "s"), "d60497a9-0b01-5dda-aee3-1ac6eb5ec23b"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Whatever an agent sends, the payload is one JSON object, for every name that
// the event goes by, and the agent can be answered.
func FuzzPayload(f *testing.F) {
	files, _ := filepath.Glob("*/testdata/*/*.json")
	for i, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			f.Add(i*7, text)
		}
	}
	f.Add(0, []byte(`{"tool_input":"","tool_info":[],"toolCall":{"args":null},"preToolUse":7,"workspaceRoots":{},"tool_response":[[]]}`))
	rows := events.All()
	f.Fuzz(func(t *testing.T, at int, data []byte) {
		row := rows[int(uint(at)%uint(len(rows)))]
		env, err := events.Parse(append(append([]byte(`{"event":"`+row.Name+`","dialect":"`+string(row.Dialect)+`","data":`), data...), '}'))
		if err != nil {
			return
		}
		e := &events.Event{Envelope: env, Contract: row}
		for _, other := range row.Aliases() {
			got := Payload(e, other.Name, nil)
			var object map[string]any
			if json.Unmarshal(got, &object) != nil || object == nil {
				t.Fatalf("%s as %s: %s", row.Name, other.Name, got)
			}
		}
		ToolNames(e)
		agent := Agent(row.Dialect)
		if agent == nil || agent.Answer == nil {
			return
		}
		if agent.Pair != nil {
			agent.Pair(row.Name, e.Data)
		}
		result := rawjson.Get(e.Data, "tool_response")
		if env := Transform(e, result); !json.Valid(env.Data) {
			t.Fatalf("transform of %s: %s", row.Name, env.Data)
		}
		v := &verdict.Verdict{Allowed: true, Continue: true, UpdatedToolResponse: json.RawMessage(`"x"`), UpdatedInput: json.RawMessage(`{}`), AdditionalContext: "T"}
		if r := agent.Answer(neutral.Asked{Event: row.Name, Payload: e.Data, Verdict: v}); r.Exit != 0 {
			t.Fatalf("%s: got %+v", row.Name, r)
		}
	})
}

func BenchmarkPayload(b *testing.B) {
	e := event(b, events.ClaudeCode, "PreToolUse", `{"session_id":"s","cwd":"/w","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t"}`)
	b.ReportAllocs()
	for b.Loop() {
		Payload(e, "pre_tool_use", nil)
	}
}

func BenchmarkToolNames(b *testing.B) {
	e := event(b, events.GeminiCLI, "BeforeTool", `{"session_id":"s","cwd":"/w","tool_name":"run_shell_command","tool_input":{"command":"ls"}}`)
	b.ReportAllocs()
	for b.Loop() {
		ToolNames(e)
	}
}

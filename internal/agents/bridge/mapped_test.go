package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// catch runs one call and returns the events that hookd got for it.
func catch(t *testing.T, o Options, payload string) []events.Envelope {
	t.Helper()
	var mu sync.Mutex
	var seen []events.Envelope
	o.Socket = serve(t, func(_ context.Context, env events.Envelope) (wire.Answer, *wire.Error) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, env)
		return wire.Answer{EventID: "e"}, nil
	})
	called(t, o, payload)
	mu.Lock()
	defer mu.Unlock()
	return seen
}

// Events that have another dialect's name carry its fields too, so a guard
// that was written for the name finds the fields that it looks for.
func TestForeignEventsCarryTheFieldsOfTheirName(t *testing.T) {
	for _, tt := range []struct{ agent, event, payload, want string }{
		{"cline", "PreToolUse", `{"taskId":"1","hookName":"PreToolUse","workspaceRoots":["/w"],"preToolUse":{"toolName":"execute_command","parameters":{"command":"ls"}}}`,
			`{"taskId":"1","hookName":"PreToolUse","workspaceRoots":["/w"],"preToolUse":{"toolName":"execute_command","parameters":{"command":"ls"}},"session_id":"1","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`},
		{"cline", "PreToolUse", `{"taskId":"1","hookName":"tool_call","tool_call":{"id":"c","name":"run_commands","input":{"commands":["ls","rm x"]}},"preToolUse":{"toolName":"run_commands","parameters":{"commands":"[\"ls\",\"rm x\"]"}}}`,
			`{"taskId":"1","hookName":"tool_call","tool_call":{"id":"c","name":"run_commands","input":{"commands":["ls","rm x"]}},"preToolUse":{"toolName":"run_commands","parameters":{"commands":"[\"ls\",\"rm x\"]"}},"session_id":"1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"commands":["ls","rm x"],"command":"ls\nrm x"},"tool_use_id":"c"}`},
		{"antigravity", "PreToolUse", `{"conversationId":"c","toolCall":{"name":"run_command","args":{"CommandLine":"ls"}}}`,
			`{"conversationId":"c","toolCall":{"name":"run_command","args":{"CommandLine":"ls"}},"session_id":"c","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`},
		{"kimi", "PostToolUse", `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Shell","tool_call_id":"c","tool_output":"out"}`,
			`{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Shell","tool_call_id":"c","tool_output":"out","tool_use_id":"c","tool_response":"out"}`},
		{"codex", "Stop", `{"session_id":"s","hook_event_name":"Stop","turn_id":"t"}`, `{"session_id":"s","hook_event_name":"Stop","turn_id":"t"}`},
		{"copilot", "preToolUse", `{"sessionId":"s","toolName":"bash","toolArgs":"{\"command\":\"ls\"}"}`, `{"sessionId":"s","toolName":"bash","toolArgs":{"command":"ls"}}`},
	} {
		t.Run(tt.agent, func(t *testing.T) {
			seen := catch(t, Options{Agent: tt.agent, Args: []string{tt.event}}, tt.payload)
			if len(seen) != 1 || string(seen[0].Data) != tt.want {
				t.Errorf("got %s\nwant %s", seen[0].Data, tt.want)
			}
		})
	}
}

// The event is the event whose file Cline runs, whatever words its versions have
// for it.
func TestNamesOfClinesEvents(t *testing.T) {
	for _, tt := range []struct{ arg, hookName, want string }{
		{"PreToolUse", "tool_call", "PreToolUse"},
		{"", "tool_call", "PreToolUse"},
		{"PreToolUse", "PreToolUse", "PreToolUse"},
		{"PreToolUse", "a_new_word", "PreToolUse"},
		{"PreToolUse", "", "PreToolUse"},
		{"TaskComplete", "agent_end", "TaskComplete"},
		{"", "prompt_submit", "UserPromptSubmit"},
	} {
		o := Options{Agent: "cline"}
		if tt.arg != "" {
			o.Args = []string{tt.arg}
		}
		seen := catch(t, o, `{"hookName":"`+tt.hookName+`"}`)
		if len(seen) != 1 || seen[0].Event != tt.want {
			t.Errorf("%+v: got %+v", tt, seen)
		}
	}
}

// Hooks get 90% of the agent's deadline.
func TestBudget(t *testing.T) {
	for _, tt := range []struct {
		agent, event string
		timeout      time.Duration
		most         int64 // milliseconds
	}{
		{"claude-code", "PreToolUse", 0, 540_000},
		{"claude-code", "UserPromptSubmit", 0, 27_000},
		{"claude-code", "PreToolUse", 10 * time.Minute, 540_000},
		{"claude-code", "PreToolUse", time.Hour, 600_000}, // what hookd takes
		{"gemini-cli", "BeforeTool", 0, 54_000},
		{"copilot", "preToolUse", 0, 27_000},
		{"claude-code", "SessionEnd", 0, 0}, // the agent does not wait for it
	} {
		seen := catch(t, Options{Agent: tt.agent, Args: []string{tt.event}, Timeout: tt.timeout}, `{}`)
		if len(seen) != 1 {
			t.Fatalf("%s %s: got %d events", tt.agent, tt.event, len(seen))
		}
		if got := seen[0].TimeoutMS; got > tt.most || got < tt.most-20_000 || (got == 0) != (tt.most == 0) {
			t.Errorf("%s %s: timeout_ms is %d, want at most %d", tt.agent, tt.event, got, tt.most)
		}
	}
}

// An old Cursor gives the payload as an argument.
func TestPayloadAsArgument(t *testing.T) {
	seen := catch(t, Options{Agent: "cursor", Args: []string{`{"hook_event_name":"stop","conversation_id":"c"}`}}, ``)
	if len(seen) != 1 || seen[0].Event != "stop" || seen[0].SessionID != "c" {
		t.Errorf("got %+v", seen)
	}
}

// LibreFang's documented agent:end hook runs when any agent stops, with the
// fields that LibreFang documents.
func TestAgentEndOfEveryAgent(t *testing.T) {
	out := hooktest.ShortDir(t)
	socket := house(t, map[string][2]string{
		"notify": {"events: [agent:end]\n", `printf '%s' "$HOOK_EVENT $HOOK_EVENT_DATA" > ` + out + `/$$ && mv ` + out + `/$$ ` + out + `/$$.done` + "\n"},
	})
	for _, tt := range []struct{ agent, event, file, preview string }{
		{"claude-code", "Stop", "claude-code/Stop.json", "done"},
		{"codex", "Stop", "codex/Stop.json", "done"},
		{"gemini-cli", "AfterAgent", "gemini-cli/AfterAgent.json", "done"},
		{"cursor", "stop", "cursor/stop.json", ""},
		{"copilot", "agentStop", "copilot/agentStop.json", ""},
		{"antigravity", "Stop", "antigravity/Stop.json", ""},
	} {
		t.Run(tt.agent, func(t *testing.T) {
			called(t, Options{Agent: tt.agent, Args: []string{tt.event}, Socket: socket}, captured(t, tt.file))
			name, data := collected(t, out)
			var session string
			for _, key := range []string{"session_id", "conversation_id", "sessionId", "conversationId"} {
				if s, ok := rawjson.GetString(json.RawMessage(captured(t, tt.file)), key); ok && session == "" {
					session = s
				}
			}
			want := map[string]any{"session_id": session, "agent_id": neutral.AgentUUID(events.Dialect(tt.agent), session), "status": "ok", "tokens_used": nil, "steps": nil}
			if tt.preview != "" {
				want["response_preview"] = tt.preview
			}
			for key, value := range want {
				got, ok := data[key]
				if !ok || got != value {
					t.Errorf("%s: %s is %v, want %v", name, key, got, value)
				}
			}
			if name != "agent:end" {
				t.Errorf("HOOK_EVENT is %s", name)
			}
		})
	}
}

// collected waits for a file that a hook made, and removes it.
func collected(t *testing.T, dir string) (event string, data map[string]any) {
	t.Helper()
	var text []byte
	hooktest.Until(t, "the hook has run", func() bool {
		files, _ := filepath.Glob(filepath.Join(dir, "*.done"))
		if len(files) == 0 {
			return false
		}
		text, _ = os.ReadFile(files[0])
		os.Remove(files[0])
		return true
	})
	event, rest, _ := strings.Cut(string(text), " ")
	if err := json.Unmarshal([]byte(rest), &data); err != nil {
		t.Fatalf("HOOK_EVENT_DATA is %s: %v", rest, err)
	}
	return event, data
}

// A plain filter on LibreFang's transform_tool_result redacts for each agent,
// by the canonical name of the tool too.
func TestFilterRedactsEverywhere(t *testing.T) {
	const filter = `printf '%s' "$HOOK_EVENT_DATA" | sed 's/.*"tool_output":"\([^"]*\)".*/\1/; s/s3cret/[redacted]/'` + "\n"
	socket := house(t, map[string][2]string{"redact": {"events: [transform_tool_result]\nmatcher: Bash\n", filter}})
	for agent, payload := range map[string]string{
		"claude-code": `{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"env"},"tool_response":{"stdout":"key s3cret","stderr":""}}`,
		"codex":       `{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"env"},"tool_response":"key s3cret"}`,
		"gemini-cli":  `{"hook_event_name":"AfterTool","session_id":"s","tool_name":"run_shell_command","tool_input":{"command":"env"},"tool_response":{"llmContent":"key s3cret"}}`,
		"copilot":     `{"hook_event_name":"postToolUse","sessionId":"s","toolName":"bash","toolArgs":{},"toolResult":{"resultType":"success","textResultForLlm":"key s3cret"}}`,
	} {
		got := called(t, Options{Agent: agent, Socket: socket}, payload)
		if !strings.Contains(got.stdout, "key [redacted]") || strings.Contains(got.stdout, "s3cret") {
			t.Errorf("%s: got %+v", agent, fmt.Sprintf("%+v", got))
		}
	}
}

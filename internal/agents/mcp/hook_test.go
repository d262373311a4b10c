package mcp

import (
	"encoding/json"
	"testing"

	_ "github.com/hookd/hookd/internal/contract/dialect" // the contract table
	"github.com/hookd/hookd/internal/events"
)

// A value that an agent writes as text gets back the type that its row gives the field.
func TestPayload(t *testing.T) {
	for name, tt := range map[string]struct{ agent, in, want string }{
		"texts": {
			"claude-code", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":"{\"command\":\"a\"}","effort":"","agent_id":""}`,
			`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"a"}}`,
		},
		"typed": {
			"codex", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"a"}}`,
			`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"a"}}`,
		},
		"numbers_and_booleans": {
			"claude-code", `{"hook_event_name":"PostToolUseFailure","duration_ms":"12","is_interrupt":"false","error":"7"}`,
			`{"hook_event_name":"PostToolUseFailure","duration_ms":12,"is_interrupt":false,"error":"7"}`,
		},
		"not_of_the_type": {
			"claude-code", `{"hook_event_name":"PreToolUse","tool_input":"rm -rf /","effort":"[1]"}`,
			`{"hook_event_name":"PreToolUse","tool_input":"rm -rf /","effort":"[1]"}`,
		},
		"a_prompt_like_json": {
			"claude-code", `{"hook_event_name":"UserPromptSubmit","prompt":"{\"tool_input\":1}"}`,
			`{"hook_event_name":"UserPromptSubmit","prompt":"{\"tool_input\":1}"}`,
		},
		"a_result_of_any_type": {
			"claude-code", `{"hook_event_name":"PostToolUse","tool_response":"{\"stdout\":\"1\"}"}`,
			`{"hook_event_name":"PostToolUse","tool_response":{"stdout":"1"}}`,
		},
		"an_empty_result": {
			"claude-code", `{"hook_event_name":"PostToolUse","tool_response":""}`, `{"hook_event_name":"PostToolUse","tool_response":""}`,
		},
		"unknown_event": {"claude-code", `{"hook_event_name":"New","tool_input":"{}"}`, `{"hook_event_name":"New","tool_input":"{}"}`},
		"nothing":       {"claude-code", `{}`, `{}`},
		"no_object":     {"claude-code", `[1]`, `[1]`},
		"no_arguments":  {"claude-code", ``, ``},
	} {
		t.Run(name, func(t *testing.T) {
			if got := payload(events.Dialect(tt.agent), json.RawMessage(tt.in)); string(got) != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

package familiar

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
)

var noon = time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC)

func event(t *testing.T, line string) *events.Event {
	t.Helper()
	env, bad := events.Parse([]byte(line))
	if bad != nil {
		t.Fatal(bad)
	}
	e := &events.Event{Envelope: env, EventID: "e1", Time: noon, Contract: events.For(env.Dialect, env.Event)}
	e.Dialect = e.Contract.Dialect
	return e
}

// Every variable that Familiar documents.
func TestEveryDocumentedVariable(t *testing.T) {
	for _, tt := range []struct{ event, data, variable, want string }{
		{"onStart", `"agent_name":"n"`, "agent_name", "n"},
		{"onStart", `"agent_id":"i"`, "agent_id", "i"},
		{"onStart", `"conversation_id":"c"`, "conversation_id", "c"},
		{"onStart", `"workspace":"/w"`, "workspace", "/w"},
		{"onStart", `"timestamp":"2026-01-01T00:00:00Z"`, "timestamp", "2026-01-01T00:00:00Z"},
		{"onStart", `"json_context":{"a": 1}`, "json_context", `{"a":1}`},
		{"onStart", `"json_context":"{\"a\": 1}"`, "json_context", `{"a": 1}`},
		{"onStart", `"trigger_type":"cli"`, "trigger_type", "cli"},
		{"onStart", `"trigger_name":null`, "trigger_name", ""},
		{"onStart", `"parameters":{"x":{"y":[1, 2]}}`, "parameters.x", `{"y":[1,2]}`},
		{"onStart", `"parameters":{"x":{"y":[1, 2]}}`, "parameters.x.y", `[1,2]`},
		{"onStart", `"parameters":{"x":"it's"}`, "parameters.x", "it's"},
		{"onStart", `"parameters":{"x.y":"dotted"}`, "parameters.x.y", "dotted"},
		{"onStart", `"parameters":"none"`, "parameters.x", ""},
		{"onStart", `"parent_agent":"p"`, "parent_agent", "p"},
		{"onStop", `"duration_ms":83211`, "duration_ms", "83211"},
		{"onStop", `"message_count":3`, "message_count", "3"},
		{"onStop", `"tool_call_count":0`, "tool_call_count", "0"},
		{"onStop", `"token_usage":{"input":12,"output":3}`, "token_usage.input", "12"},
		{"onStop", `"token_usage":{"input":12,"output":3}`, "token_usage.output", "3"},
		{"onStop", `"exit_reason":"timeout"`, "exit_reason", "timeout"},
		{"onStop", `"files_modified":["a b","c\nd"]`, "files_modified", "a b\nc\nd"},
		{"onStop", `"files_modified":[]`, "files_modified", ""},
		{"onStop", `"files_modified":["a",1]`, "files_modified", `["a",1]`},
		{"onStop", `"hook_output":"told"`, "hook_output", "told"},
		{"beforeToolCall", `"tool_name":"Bash"`, "tool_name", "Bash"},
		{"beforeToolCall", `"tool_args":{ "a" : "<&>" }`, "tool_args", `{"a":"<&>"}`},
		{"beforeToolCall", `"tool_args":{"command":"a\u0000\nb"}`, "tool_args.command", "a\x00\nb"},
		{"beforeToolCall", `"tool_args":{"n":1.50}`, "tool_args.n", "1.50"},
		{"beforeToolCall", `"tool_call_index":1`, "tool_call_index", "1"},
		{"afterToolCall", `"tool_result":{"ok":true}`, "tool_result", `{"ok":true}`},
		{"afterToolCall", `"tool_error":null`, "tool_error", ""},
		{"afterToolCall", `"tool_success":false`, "tool_success", "false"},
		{"afterToolCall", `"tool_duration_ms":7`, "tool_duration_ms", "7"},
		{"onError", `"error_type":"api_error"`, "error_type", "api_error"},
		{"onError", `"error_message":"m"`, "error_message", "m"},
		{"onError", `"error_stack":"s\ns"`, "error_stack", "s\ns"},
		{"onError", `"last_tool":"Bash"`, "last_tool", "Bash"},
		{"onError", `"recoverable":true`, "recoverable", "true"},
	} {
		e := event(t, `{"event":"`+tt.event+`","data":{`+tt.data+`}}`)
		got, known := NewContext(e, tt.event, e.Data, "").Value(tt.variable)
		if got != tt.want || !known {
			t.Errorf("%s with %s: {{%s}} = %q, known %t; want %q", tt.event, tt.data, tt.variable, got, known, tt.want)
		}
	}
}

func TestCommonVariablesComeFromTheEnvelope(t *testing.T) {
	e := event(t, `{"event":"onStart","agent_name":"n","agent_id":"i","session_id":"s","cwd":"/c"}`)
	c := NewContext(e, "onStart", e.Data, "")
	for name, want := range map[string]string{"agent_name": "n", "agent_id": "i", "conversation_id": "s", "workspace": "/c", "timestamp": "2026-02-03T12:00:00Z", "hook_output": ""} {
		if got, known := c.Value(name); got != want || !known {
			t.Errorf("{{%s}} = %q, known %t; want %q", name, got, known, want)
		}
	}
	if want := `{"agent_name":"n","agent_id":"i","conversation_id":"s","workspace":"/c","timestamp":"2026-02-03T12:00:00Z"}`; string(c.whole) != want || !json.Valid(c.whole) {
		t.Errorf("json_context = %s, want %s", c.whole, want)
	}
}

func TestAVariableIsKnownIfItsFieldIsDocumentedOrThere(t *testing.T) {
	e := event(t, `{"event":"beforeToolCall","data":{"own":{"a":1}}}`)
	c := NewContext(e, "beforeToolCall", e.Data, "")
	for name, want := range map[string]bool{"tool_args": true, "tool_args.none": true, "own.b": true, "own": true, "hook_output": true, "tool_arg": false, "error_type": false, "": false} {
		if got, known := c.Value(name); known != want || got != "" && name != "own" {
			t.Errorf("{{%s}} = %q, known %t; want %t", name, got, known, want)
		}
	}
}

func TestKeptOutputIsPartOfTheContext(t *testing.T) {
	e := event(t, `{"event":"onStop","data":{"hook_output":"told"}}`)
	c := NewContext(e, "onStop", e.Data, "it's\nkept")
	if got, _ := c.Value("hook_output"); got != "it's\nkept" {
		t.Errorf("{{hook_output}} = %q", got)
	}
	if got := rawjson.Get(c.whole, "hook_output"); string(got) != `"it's\nkept"` {
		t.Errorf("json_context has hook_output %s", got)
	}
}

func TestOtherAgentsFieldsStandIn(t *testing.T) {
	e := event(t, `{"event":"PreToolUse","dialect":"claude-code","session_id":"s","cwd":"/c","data":{"tool_name":"Bash","tool_input":{"command":"ls"},"message":"m"}}`)
	c := NewContext(e, "beforeToolCall", e.Data, "")
	if got, _ := c.Value("tool_args.command"); got != "ls" {
		t.Errorf("{{tool_args.command}} = %q, want ls", got)
	}
	if _, known := c.Value("error_message"); known {
		t.Error("a tool call has an error_message")
	}
	own := event(t, `{"event":"beforeToolCall","data":{"tool_input":{"command":"ls"}}}`)
	if got, _ := NewContext(own, "beforeToolCall", own.Data, "").Value("tool_args.command"); got != "" {
		t.Errorf("Familiar's own event took tool_input for tool_args: %q", got)
	}
}

func TestPlacesOfAnEvent(t *testing.T) {
	for _, tt := range []struct{ line, agent, workspace, conversation string }{
		{`{"event":"onStart"}`, "", "", "event\x00e1"},
		{`{"event":"onStart","data":{"agent_name":"n","workspace":"/w","conversation_id":"c"}}`, "n", "/w", "n\x00c"},
		{`{"event":"onStart","agent_name":"n","session_id":"s","cwd":"/c","data":{}}`, "n", "/c", "n\x00s"},
		{`{"event":"onStart","agent_name":"n","session_id":"s","cwd":"/c","data":{"workspace":"/w","conversation_id":"c"}}`, "n", "/w", "n\x00c"},
		{`{"event":"onStart","cwd":"/c","data":{"workspace":""}}`, "", "/c", "event\x00e1"},
	} {
		e := event(t, tt.line)
		if Agent(e) != tt.agent || Workspace(e) != tt.workspace || Conversation(e) != tt.conversation {
			t.Errorf("%s: agent %q, workspace %q, conversation %q", tt.line, Agent(e), Workspace(e), Conversation(e))
		}
	}
}

package runner

import (
	"encoding/json"
	"testing"

	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
)

// A prompt for a model sees the call that the agent's tool gets, in the words of
// the name that the hook was given, whatever the payload calls it.
func TestToolGivenToModels(t *testing.T) {
	for _, tt := range []struct {
		dialect     events.Dialect
		name, given string
		payload     string
		tool, input string
	}{
		{"claude-code", "PreToolUse", "PreToolUse", `{"tool_name":"Bash","tool_input":{"command":"ls"}}`, "Bash", `{"command":"ls"}`},
		{"copilot", "preToolUse", "preToolUse", `{"toolName":"bash","toolArgs":{"command":"ls"},"tool_name":"x","tool_input":{}}`, "bash", `{"command":"ls"}`},
		{"copilot", "preToolUse", "pre_tool_use", `{"tool_name":"shell","tool_input":{"cmd":"ls"}}`, "shell", `{"cmd":"ls"}`},
		{"docker-agent", "pre_tool_use", "PreToolUse", `{"tool_name":"Bash","tool_input":{"command":"ls"}}`, "Bash", `{"command":"ls"}`},
		{"docker-agent", "pre_tool_use", "pre_tool_use", `{"tool_name":"shell","tool_input":{"cmd":"ls"}}`, "shell", `{"cmd":"ls"}`},
		{"antigravity", "PreToolUse", "PreToolUse", `{"toolCall":{"name":"run_command","args":{"CommandLine":"ls"}}}`, "run_command", `{"CommandLine":"ls"}`},
	} {
		row := events.For(tt.dialect, tt.name)
		e := &events.Event{Contract: row}
		e.Envelope.Event, e.Dialect = tt.name, tt.dialect
		got := toolGiven(&dispatch.Job{Event: e, Given: tt.given}, json.RawMessage(tt.payload))
		if got.Own != tt.tool || string(got.Given) != tt.input {
			t.Errorf("%s %s given as %s: got %s %s, want %s %s", tt.dialect, tt.name, tt.given, got.Own, got.Given, tt.tool, tt.input)
		}
	}
}

package dispatch

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// A record shows the tool call before the members around it, which are longer than the record.
func TestThePreviewBeginsWithTheCall(t *testing.T) {
	path := `"transcript_path":"/home/` + strings.Repeat("x", 250) + `"`
	long := strings.Repeat("y", 300)
	for _, test := range []struct{ data, want string }{
		{`{"session_id":"s","cwd":"/p","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t"}`,
			`{"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t","session_id":"s","cwd":"/p"}`},
		{`{ "session_id":"s", "tool_input" : {"command":"ls"} , "tool_name":"Bash" }`,
			`{"tool_input" : {"command":"ls"} , "tool_name":"Bash" ,"session_id":"s"}`},
		{`{"session_id":"s",` + path + `,"tool_name":"Bash","tool_input":{"command":"ls"}}`,
			(`{"tool_name":"Bash","tool_input":{"command":"ls"},"session_id":"s",` + path)[:wire.InputPreview]},
		{`{"session_id":"s","tool_name":"Bash","tool_input":{"command":"` + long + `"}}`,
			(`{"tool_name":"Bash","tool_input":{"command":"` + long)[:wire.InputPreview]},
		{`{"tool_name":"Bash","session_id":"s"}`, `{"tool_name":"Bash","session_id":"s"}`},
		{`{"session_id":"s"}`, `{"session_id":"s"}`},
		{`{}`, `{}`},
	} {
		e := &events.Event{Contract: events.For("claude-code", "PreToolUse")}
		e.Data = json.RawMessage(test.data)
		if got := new(runRecords).preview(e); got != test.want {
			t.Errorf("%s\n  is shown as %s\n  want        %s", test.data, got, test.want)
		}
	}
	e := &events.Event{Contract: events.For("claude-code", "UserPromptSubmit")}
	e.Data = json.RawMessage(`{"session_id":"s","prompt":"p","tool_name":"Bash"}`)
	if got := new(runRecords).preview(e); got != string(e.Data) {
		t.Errorf("a prompt is shown as %s", got)
	}
}

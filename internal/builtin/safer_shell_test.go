package builtin

import (
	"context"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/events"
)

func TestSaferShellFindsTheCommand(t *testing.T) {
	for _, tt := range []struct{ name, payload, want string }{ // want: in the answer, "" = silent
		{"cmd", `{"tool_name":"shell","tool_input":{"cmd":"rm -rf /"}}`, "fs-delete"},
		{"command", `{"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}`, "fs-delete"},
		{"list", `{"tool_name":"shell","tool_input":{"command":["bash","-lc","rm -rf /"]}}`, "fs-delete"},
		{"list-of-a-read", `{"tool_name":"shell","tool_input":{"command":["ls","it's here"]}}`, ""},
		{"list-is-quoted", `{"tool_name":"shell","tool_input":{"command":["echo","; rm -rf /"]}}`, ""},
		{"safe", `{"tool_name":"shell","tool_input":{"cmd":"git status"}}`, ""},
		{"no-command", `{"tool_name":"shell","tool_input":{}}`, `"blast_radius":"unknown"`},
		{"odd-command", `{"tool_name":"shell","tool_input":{"command":{"a":1}}}`, `"blast_radius":"unknown"`},
		{"no-input", `{"tool_name":"shell"}`, `"blast_radius":"unknown"`},
		{"other-tool", `{"tool_name":"edit_file","tool_input":{"command":"rm -rf /"}}`, ""},
		{"other-tool-odd-command", `{"tool_name":"mcp_x","tool_input":{"command":{"a":1}}}`, ""},
		{"other-tool-odd-input", `{"tool_name":"mcp_x","tool_input":"text"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := callOf(events.LookupIn(events.DockerAgent, "pre_tool_use"), tt.payload)
			out, err := saferShell.Run(context.Background(), &c)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(out); (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("answer %q, want %q in it", got, tt.want)
			}
		})
	}
}

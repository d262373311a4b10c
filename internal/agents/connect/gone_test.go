package connect

import (
	"bytes"
	"testing"
)

// Hooks that call hookd's former MCP server do nothing now. Inspect reports such hooks, Connect puts the
// bridge in their place, Disconnect removes them. Hooks of another server stay.
func TestGoneMCPServer(t *testing.T) {
	const other = `{"type": "mcp_tool", "server": "lint", "tool": "hook"}`
	text := []byte(`{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [` +
		`{"type": "mcp_tool", "server": "hookd", "tool": "hook", "input": {"tool_name": "${tool_name}"}}, ` + other + `]}]}}`)
	for _, agent := range []string{"claude-code", "codex"} {
		t.Run(agent, func(t *testing.T) {
			o, path := options(t, agent, text)
			if s := Inspect(o); s.State != Partly || s.Note == "" {
				t.Errorf("before: state %v, note %q", s.State, s.Note)
			}
			apply(t, Connect, o)
			if got := readOrNil(t, path); bytes.Contains(got, []byte(`"hookd"`)) || !bytes.Contains(got, []byte(other)) {
				t.Errorf("connected:\n%s", got)
			}
			if s := Inspect(o); len(s.Missing) > 0 || len(s.Events) == 0 {
				t.Errorf("connected: state %v, note %q, missing %v", s.State, s.Note, s.Missing)
			}
		})
		t.Run(agent+"/disconnect", func(t *testing.T) {
			o, path := options(t, agent, text)
			apply(t, Disconnect, o)
			if got := readOrNil(t, path); bytes.Contains(got, []byte(`"hookd"`)) || !bytes.Contains(got, []byte(other)) {
				t.Errorf("disconnected:\n%s", got)
			}
		})
	}
}

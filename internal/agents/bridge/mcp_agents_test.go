//go:build agents

package bridge

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// TestRealAgentsOverMCP: agents that call an MCP tool as a hook obey it as they obey the
// bridge, also side by side.
func TestRealAgentsOverMCP(t *testing.T) {
	dir := t.TempDir()
	for _, r := range reals {
		if r.name != string(events.ClaudeCode) && r.name != string(events.Codex) {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			program := r.found(t)
			bridge, hookd := built(t, dir), builtHookd(t, dir)
			r.text = nil // connect writes the settings
			s := newStage(t, r, program, bridge)
			command := []string{hookd, "mcp", string(r.dialect), "--socket", s.socket}
			s.connectTool(t, r, bridge, command)
			asked := s.work1(t)
			s.checkDenied(t, asked)
			s.checkRewritten(t)
			s.checkShown(t, "context", asked[0], theContext)
			s.checkResult(t, asked[len(asked)-1])
			s.checkEnd(t)
			s.together(t, "together")
			s.together(t, "decoys")
		})
	}
}

// builtHookd builds hookd in dir.
func builtHookd(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "hookd")
	if out, err := exec.Command("go", "build", "-o", path, "../../../cmd/hookd").CombinedOutput(); err != nil {
		t.Fatalf("build hookd: %v\n%s", err, out)
	}
	return path
}

// connectTool registers the hooks as `hookd connect --mcp` does, and the server as the
// agent does.
func (s *stage) connectTool(t *testing.T, r real, bridge string, command []string) {
	t.Helper()
	plan, err := connect.Connect(connect.Options{
		Agent: string(r.dialect), Home: s.home, Bridge: bridge, Socket: s.socket,
		Tool:   &connect.Tool{Server: neutral.HookServer, Name: neutral.HookTool, Command: command},
		Getenv: func(string) string { return "" },
	})
	if err == nil {
		err = plan.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
	name, text := ".claude.json", raw(object{"mcpServers": object{neutral.HookServer: object{
		"type": "stdio", "command": command[0], "args": command[1:],
	}}})
	if r.dialect == events.Codex {
		var args []string
		for _, arg := range command[1:] {
			args = append(args, fmt.Sprintf("%q", arg))
		}
		name = ".codex/config.toml"
		text = fmt.Sprintf("[mcp_servers.%s]\ncommand = %q\nargs = [%s]\n", neutral.HookServer, command[0], strings.Join(args, ", "))
	}
	if err := os.WriteFile(filepath.Join(s.home, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(plan.Notes, func(n string) bool { return strings.Contains(n, "has no server") }); i < 0 {
		t.Errorf("connect does not say that the server is missing: %q", plan.Notes)
	}
}

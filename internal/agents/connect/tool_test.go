package connect

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

var tool = Tool{Server: neutral.HookServer, Name: neutral.HookTool, Command: []string{"/opt/my hookd/hookd", "mcp", "x"}}

// Events that the agent can give to an MCP tool go there, the command stays for the others;
// there and back again changes nothing else.
func TestTool(t *testing.T) {
	for agent, before := range map[string]string{
		"claude-code": "{\n  \"model\": \"opus\", // mine\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"mcp_tool\", " +
			"\"server\": \"mine\", \"tool\": \"hook\"}]}]}\n}\n",
		"codex": "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"mcp_tool\", \"server\": \"hookd\", \"tool\": \"mine\"}]}]}}\n",
	} {
		t.Run(agent, func(t *testing.T) {
			o, path := options(t, agent, []byte(before))
			o.Tool = &tool
			apply(t, Connect, o)
			text := readOrNil(t, path)
			checkTools(t, agent, text)
			if p, err := Connect(o); err != nil || len(p.Changes) != 0 {
				t.Errorf("a second time: %+v, %v", p, err)
			}
			s := Inspect(o)
			if s.State != Partly || len(s.Missing) > 0 || !strings.Contains(s.Note, "'/opt/my hookd/hookd' mcp x`") {
				t.Errorf("without the server: %+v", s)
			}
			registerServer(t, o)
			if s := Inspect(o); strings.Contains(s.Note, "server") || s.Bridge != bridge {
				t.Errorf("with the server: %+v", s)
			}
			if p, err := Connect(o); err != nil || strings.Contains(strings.Join(p.Notes, "\n"), "has no server") {
				t.Errorf("with the server: %q, %v", p.Notes, err)
			}
			o.Tool = nil
			apply(t, Connect, o)
			if text := readOrNil(t, path); bytes.Contains(text, []byte("${")) {
				t.Errorf("not all is a command again:\n%s", text)
			}
			o.Tool = &tool
			apply(t, Connect, o)
			apply(t, Disconnect, o)
			if text := readOrNil(t, path); string(text) != before {
				t.Errorf("got\n%s\nwant\n%s", text, before)
			}
		})
	}
}

// checkTools looks at each event's own handler.
func checkTools(t *testing.T, agent string, text []byte) {
	t.Helper()
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Type, Server, Tool, Command string
				Input                       map[string]string
				Timeout                     int
			}
		}
	}
	if err := json.Unmarshal(bytes.Replace(text, []byte(" // mine"), nil, 1), &settings); err != nil {
		t.Fatal(err)
	}
	rules := find(agent).Tools
	for event, groups := range settings.Hooks {
		h := groups[len(groups)-1].Hooks[0]
		row := events.LookupIn(events.Dialect(agent), event)
		if !rules.Events(row) {
			if h.Type != "command" || !strings.HasPrefix(h.Command, bridge) {
				t.Errorf("%s: got %+v", event, h)
			}
			continue
		}
		if h.Type != "mcp_tool" || h.Server != "hookd" || h.Tool != "hook" || h.Timeout == 0 {
			t.Errorf("%s: got %+v", event, h)
		}
		for _, f := range row.Fields {
			want := "${" + f.Name + "}"
			if rules.Strict && f.Nullable {
				want = ""
			}
			if h.Input[f.Name] != want {
				t.Errorf("%s: %s is %q, want %q", event, f.Name, h.Input[f.Name], want)
			}
		}
	}
}

// registerServer writes the server into the agent's settings, as the agent does.
func registerServer(t *testing.T, o Options) {
	t.Helper()
	file, text := ".claude.json", `{"mcpServers": {"hookd": {"command": "hookd"}}}`
	if o.Agent == "codex" {
		file, text = ".codex/config.toml", "[mcp_servers.hookd]\ncommand = \"hookd\"\n"
	}
	if err := os.WriteFile(filepath.Join(o.Home, file), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestToolRefused(t *testing.T) {
	closed := true
	for want, change := range map[string]func(*Options){
		"gemini-cli cannot call MCP tools": func(o *Options) { o.Agent = "gemini-cli" },
		"leave out --http or --mcp":        func(o *Options) { o.Post = &post },
		"leave out --project":              func(o *Options) { o.Project = t.TempDir() },
		"--mcp cannot fail closed":         func(o *Options) { o.FailClosed = &closed },
	} {
		o, _ := options(t, "claude-code", nil)
		o.Tool = &tool
		change(&o)
		if _, err := Connect(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

package connect

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

var post = Post{URL: "http://127.0.0.1:7780/agents/claude-code", Token: "0123"}

// handlers are the handlers of each event in Claude Code's settings, which
// have one comment.
func handlers(t *testing.T, path string) map[string]map[string]any {
	t.Helper()
	var settings struct {
		Hooks map[string][]struct{ Hooks []map[string]any }
	}
	if err := json.Unmarshal(bytes.Replace(readOrNil(t, path), []byte(" // mine"), nil, 1), &settings); err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]any{}
	for event, groups := range settings.Hooks {
		if len(groups) != 1 || len(groups[0].Hooks) != 1 {
			t.Fatalf("%s: got %+v", event, groups)
		}
		all[event] = groups[0].Hooks[0]
	}
	return all
}

// Events are posted where the agent takes that, the command stays for the
// others; there and back again changes nothing else.
func TestPost(t *testing.T) {
	before := []byte("{\n  \"model\": \"opus\" // mine\n}\n")
	o, path := options(t, "claude-code", before)
	apply(t, Connect, o)
	commands := handlers(t, path)
	o.Post = &post
	apply(t, Connect, o)
	for event, h := range handlers(t, path) {
		posted := h["type"] == "http" && h["url"] == post.URL && h["headers"].(map[string]any)["Authorization"] == "Bearer 0123" && h["command"] == nil
		if want := event != "SessionStart" && event != "Setup"; posted != want || !want && h["command"] != bridge+" claude-code" {
			t.Errorf("%s: got %v", event, h)
		}
		if commands[event]["timeout"] == nil || h["timeout"] != commands[event]["timeout"] {
			t.Errorf("%s: timeout %v, of the command %v", event, h["timeout"], commands[event]["timeout"])
		}
	}
	if p, err := Connect(o); err != nil || len(p.Changes) != 0 {
		t.Errorf("a second time: %+v, %v", p, err)
	}
	if s := Inspect(o); len(s.Missing) != 0 || s.Bridge != bridge {
		t.Errorf("got %+v", s)
	}
	other := o
	other.Post = &Post{URL: "http://127.0.0.1:7781/agents/claude-code", Token: "4567"}
	apply(t, Connect, other)
	if text := readOrNil(t, path); bytes.Contains(text, []byte("7780")) || bytes.Contains(text, []byte("0123")) {
		t.Errorf("the old address is still there:\n%s", text)
	}
	o.Post = nil
	apply(t, Connect, o)
	if text := readOrNil(t, path); bytes.Contains(text, []byte("http")) {
		t.Errorf("not all is a command again:\n%s", text)
	}
	apply(t, Connect, other)
	apply(t, Disconnect, o)
	if text := readOrNil(t, path); !bytes.Equal(text, before) {
		t.Errorf("got\n%s\nwant\n%s", text, before)
	}
}

func TestPostRefused(t *testing.T) {
	o, _ := options(t, "codex", nil)
	o.Post = &post
	if _, err := Connect(o); err == nil || !strings.Contains(err.Error(), "cannot call hooks over HTTP") {
		t.Errorf("got %v", err)
	}
	o, _ = options(t, "claude-code", nil)
	o.Post, o.Project = &post, t.TempDir()
	if _, err := Connect(o); err == nil || !strings.Contains(err.Error(), "--project") {
		t.Errorf("got %v", err)
	}
}

// An address that only looks like hookd's is not hookd's.
func TestPostOf(t *testing.T) {
	for address, want := range map[string]bool{
		"http://127.0.0.1:7780/agents/claude-code": true, "http://localhost:1/agents/claude-code": true, "http://[::1]:1/agents/claude-code": true,
		"https://127.0.0.1:7780/agents/claude-code": false, "http://example.org/agents/claude-code": false, "http://127.0.0.1:7780/agents/codex": false,
		"http://127.0.0.1:7780/hooks": false, "http://127.0.0.1.example.org/agents/claude-code": false, "": false,
	} {
		if _, got := postOf(address, "", "claude-code"); got != want {
			t.Errorf("%s: got %v", address, got)
		}
	}
}

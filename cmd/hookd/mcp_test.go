package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// mcpServer is hookd's MCP server, as an agent starts it, and a home with hooks.
type mcpServer struct {
	home    string
	session *mcp.ClientSession
	client  *client.Client
}

// The hooks of the tests. The guard writes down how it was called.
const (
	mcpGuard = "events: [PreToolUse]\nblocking: true\ntimeout: 20\n"
	mcpRun   = `in=$(cat)
echo "$in" >> "$HOME/seen-${HOOKD_WHATIF:-real}"
case $in in *forbidden*) echo "not on this machine" >&2; exit 2;; esac
`
	mcpWatch = "events: ['*']\n"
)

// serveMCP starts the built program as an agent does, and a daemon unless alone.
func serveMCP(t *testing.T, agent string, alone bool) mcpServer {
	t.Helper()
	home := hooktest.ShortDir(t)
	hooktest.Hook(t, home, "guard", mcpGuard, mcpRun)
	hooktest.Hook(t, home, "watch", mcpWatch, `cat >> "$HOME/watched"`+"\n")
	t.Setenv("LIBREFANG_HOME", home)
	t.Setenv("HOME", home)
	s := mcpServer{home: home, client: client.New(client.Options{Socket: filepath.Join(home, "hookd.sock")})}
	if !alone {
		s.startDaemon(t)
	}
	cmd := exec.Command("hookd", "mcp", agent)
	cmd.Dir, cmd.Stderr = home, os.Stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	s.session = session
	return s
}

func (s mcpServer) startDaemon(t *testing.T) {
	t.Helper()
	daemon := exec.Command("hookd", "serve")
	hooktest.Must(t, daemon.Start())
	t.Cleanup(func() {
		_ = daemon.Process.Signal(os.Interrupt)
		_ = daemon.Wait()
	})
	hooktest.Until(t, "the daemon is ready", func() bool { return s.client.Ready(t.Context()) == nil })
}

// call calls a tool and returns its text.
func (s mcpServer) call(t *testing.T, tool string, arguments any) string {
	t.Helper()
	r, err := s.session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	if r.IsError || len(r.Content) != 1 {
		t.Fatalf("got %+v", r)
	}
	return r.Content[0].(*mcp.TextContent).Text
}

// seen is the input that the guard was given. how is real, or 1 for a call that was only asked about.
func (s mcpServer) seen(how string) string {
	text, _ := os.ReadFile(filepath.Join(s.home, "seen-"+how)) // none = it was not called
	return string(text)
}

func before(command string) map[string]any {
	input, _ := json.Marshal(map[string]string{"command": command})
	return map[string]any{
		"hook_event_name": "PreToolUse", "session_id": "mine", "cwd": "/tmp", "tool_name": "Bash",
		"tool_input": string(input), "permission_mode": "default", "agent_id": "",
	}
}

// reasonOf is why a call is denied, as Claude Code and Codex read it; "" = it is not.
func reasonOf(t *testing.T, answer string) string {
	t.Helper()
	var a struct {
		HookSpecificOutput struct{ HookEventName, PermissionDecision, PermissionDecisionReason string }
	}
	if err := json.Unmarshal([]byte(answer), &a); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	out := a.HookSpecificOutput
	if out.PermissionDecision != "deny" {
		return ""
	}
	if out.HookEventName != "PreToolUse" {
		t.Errorf("the answer is for %q", out.HookEventName)
	}
	return out.PermissionDecisionReason
}

// A hook that calls the tool is answered in its agent's own form.
func TestMCPHook(t *testing.T) {
	for _, agent := range []string{"claude-code", "codex"} {
		t.Run(agent, func(t *testing.T) {
			s := serveMCP(t, agent, false)
			if why := reasonOf(t, s.call(t, "hook", before("forbidden"))); !strings.Contains(why, "not on this machine") {
				t.Errorf("denied with %q", why)
			}
			if answer := s.call(t, "hook", before("ls")); answer != "{}" {
				t.Errorf("no opinion is %s", answer)
			}
			if !strings.Contains(s.seen("real"), `"tool_input":{"command":"forbidden"}`) {
				t.Errorf("the guard was given %s", s.seen("real"))
			}
			var decisions []client.Decision
			var err error
			hooktest.Until(t, "both decisions are recorded", func() bool { // a moment after the answer, if output is late
				decisions, err = s.client.Decisions(t.Context(), client.DecisionQuery{})
				return err != nil || len(decisions) == 2
			})
			if err != nil || decisions[1].Subject != "forbidden" || decisions[1].SessionID != "mine" {
				t.Errorf("the history has %+v, %v", decisions, err)
			}
		})
	}
}

// A call that could not be checked is denied: an agent takes an error for no opinion.
func TestMCPFailsClosed(t *testing.T) {
	s := serveMCP(t, "claude-code", true)
	huge := before("ls")
	huge["tool_response"] = strings.Repeat("x", 17<<20)
	noEvent := before("ls")
	delete(noEvent, "hook_event_name")
	reserved := before("ls")
	reserved["hook_event_name"] = "hookd:stop"
	for name, arguments := range map[string]any{
		"no_daemon": before("ls"), "too_large": huge, "no_event": noEvent, "reserved": reserved, "nothing": map[string]any{},
	} {
		if why := reasonOf(t, s.call(t, "hook", arguments)); !strings.Contains(why, "hookd could not check this") {
			t.Errorf("%s: denied with %q", name, why)
		}
	}
	s.startDaemon(t) // it comes back, and the same server finds it
	if answer := s.call(t, "hook", before("ls")); answer != "{}" {
		t.Errorf("no opinion is %s", answer)
	}
}

// A model learns how hooks would decide about a call of its own session. Nothing else happens.
func TestMCPWouldDeny(t *testing.T) {
	s := serveMCP(t, "claude-code", false)
	s.call(t, "hook", before("first"))
	asked := func(command string) map[string]any {
		t.Helper()
		var would map[string]any
		arguments := map[string]any{"tool": "Bash", "input": map[string]any{"command": command}}
		if err := json.Unmarshal([]byte(s.call(t, "would_deny", arguments)), &would); err != nil {
			t.Fatal(err)
		}
		return would
	}
	would := asked("forbidden")
	if would["decision"] != "deny" || !strings.Contains(fmt.Sprint(would["reason"]), "not on this machine") ||
		fmt.Sprint(would["hooks"]) != "[guard]" {
		t.Errorf("got %v", would)
	}
	if would := asked("ls"); would["decision"] != "none" {
		t.Errorf("got %v", would)
	}
	if given := s.seen("1"); !strings.Contains(given, `"session_id":"mine"`) || !strings.Contains(given, `"cwd":"`+s.home+`"`) {
		t.Errorf("the guard was asked with %s", given)
	}
	if strings.Contains(s.seen("real"), "forbidden") {
		t.Error("the guard took the question for a call")
	}
	hooktest.Until(t, "the observer has seen the first call", func() bool {
		text, _ := os.ReadFile(filepath.Join(s.home, "watched"))
		return strings.Contains(string(text), "first")
	})
	if text, _ := os.ReadFile(filepath.Join(s.home, "watched")); strings.Contains(string(text), "forbidden") {
		t.Errorf("an observer was told: %s", text)
	}
	runs, err := s.client.Runs(t.Context(), client.RunQuery{Text: "forbidden"})
	tests, err2 := s.client.Runs(t.Context(), client.RunQuery{Text: "forbidden", Test: true})
	accepted, err3 := s.client.Accepted(t.Context(), client.EventQuery{Text: "forbidden"})
	if err != nil || err2 != nil || err3 != nil || len(runs)+len(tests)+len(accepted) > 0 {
		t.Errorf("the history has %v, %v, %v: %v, %v, %v", runs, tests, accepted, err, err2, err3)
	}
}

// It takes a tool and its input; no session or folder of another.
func TestMCPWouldDenyRefuses(t *testing.T) {
	s := serveMCP(t, "claude-code", true)
	for _, arguments := range []any{
		map[string]any{}, map[string]any{"tool": "Bash"}, map[string]any{"tool": "Bash", "input": "ls"},
		map[string]any{"tool": 1, "input": map[string]any{}},
	} {
		r, err := s.session.CallTool(t.Context(), &mcp.CallToolParams{Name: "would_deny", Arguments: arguments})
		if err != nil || !r.IsError {
			t.Errorf("%v: got %+v, %v", arguments, r, err)
		}
	}
}

// Calls come side by side, more of them than run at once.
func TestMCPAtOnce(t *testing.T) {
	s := serveMCP(t, "codex", false)
	var calls sync.WaitGroup
	for i := range 100 {
		calls.Go(func() {
			command := "ls"
			if i%2 == 0 {
				command = "forbidden"
			}
			r, err := s.session.CallTool(t.Context(), &mcp.CallToolParams{Name: "hook", Arguments: before(command)})
			if err != nil {
				t.Error(err)
				return
			}
			why := reasonOf(t, r.Content[0].(*mcp.TextContent).Text)
			if (why != "") != (i%2 == 0) {
				t.Errorf("%s is denied with %q", command, why)
			}
		})
	}
	calls.Wait()
}

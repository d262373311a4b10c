package shims

import (
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

func TestFor(t *testing.T) {
	for agent := range plugins {
		p, ok := For(agent)
		if !ok || p.Dir == "" || len(p.Files) == 0 {
			t.Errorf("%s: got %+v, %v", agent, p, ok)
		}
		for _, f := range p.Files {
			if strings.HasSuffix(f.Name, ".json") && !json.Valid(f.Text) {
				t.Errorf("%s of %s is no JSON", f.Name, agent)
			}
		}
	}
	if _, ok := For("claude-code"); ok {
		t.Error("claude-code has hook commands, it needs no plugin")
	}
}

func bash(command string) answer {
	return answer{"tool": "bash", "args": answer{"command": command, "description": "d"}}
}

// Hooks that were written for Claude Code and LibreFang serve OpenCode.
func TestOpenCode(t *testing.T) {
	h := newHouse(t)
	p := plug(t, "opencode", h.socket)

	p.wants("tool", bash("ls"), `{"args":{"command":"ls","description":"d"}}`)
	p.wants("tool", bash("rm -rf /"), `{"thrown":"no rm -rf"}`)
	p.wants("tool", bash("echo hello"), `{"args":{"command":"echo -n hello","description":"d"}}`)
	p.wants("tool", bash("sudo ls"), `{"thrown":"as root? (hooks want a person to decide, and opencode cannot ask one: denied)"}`)

	result := func(tool, command string, output any) answer {
		return answer{"tool": tool, "args": answer{"command": command}, "output": output}
	}
	p.wants("result", result("bash", "env", answer{"title": "t", "output": "key s3cret end", "metadata": answer{"output": "key s3cret end", "exit": 0}}),
		`{"output":{"title":"t","output":"key [redacted] end","metadata":{"output":"key [redacted] end","exit":0}}}`)
	p.wants("result", result("gh_list", "", answer{"content": []any{answer{"type": "text", "text": "a s3cret"}, answer{"type": "image", "data": "x"}}}),
		`{"output":{"content":[{"type":"text","text":"a [redacted]"},{"type":"image","data":"x"}]}}`)
	p.wants("result", result("bash", "lint", answer{"title": "t", "output": "ok", "metadata": answer{"output": "ok"}}),
		`{"output":{"title":"t","output":"ok\n\n2 warnings","metadata":{"output":"ok"}}}`)

	p.wants("event", answer{"event": answer{"type": "session.created", "properties": answer{"info": answer{"id": "new"}}}}, `{}`)
	p.wants("prompt", answer{"text": "hi", "session": "new"}, `{"parts":[{"id":"prt_1","type":"text","text":"hi\n\nthe start\n\nthe date"}]}`)
	p.wants("prompt", answer{"text": "hi", "session": "new"}, `{"parts":[{"id":"prt_1","type":"text","text":"hi\n\nthe date"}]}`)
	p.wants("prompt", answer{"text": "my s3cret"}, `{"parts":[{"id":"prt_1","type":"text","text":"[A hook has taken this prompt away: a secret]"}]}`)

	idle := func(session string) answer {
		return answer{"event": answer{"type": "session.idle", "properties": answer{"sessionID": session}}}
	}
	p.wants("event", idle("new"), `{}`)
	if got := h.logged(); !strings.HasPrefix(got, "agent:end {") || !strings.Contains(got, `"session_id":"new"`) || strings.Contains(got, `"agent_id":null`) {
		t.Errorf("agent:end got %s", got)
	}
	p.call("event", answer{"event": answer{"type": "session.created", "properties": answer{"info": answer{"id": "child", "parentID": "new"}}}})
	p.call("event", idle("child"))
	if got := h.logged(); !strings.HasPrefix(got, "SubagentStop {") || !strings.Contains(got, `"session_id":"child"`) {
		t.Errorf("SubagentStop got %s", got)
	}
	p.wants("odd", nil, `{}`)
	p.wants("warned", nil, `{"warned":[]}`)
}

// The same hooks serve OpenClaw.
func TestOpenClaw(t *testing.T) {
	h := newHouse(t)
	p := plug(t, "openclaw", h.socket)

	exec := func(command string) answer {
		return answer{"name": "before_tool_call", "event": answer{"toolName": "exec", "toolCallId": "c", "params": answer{"command": command}}}
	}
	const opts = `,"opts":{"timeoutMs":60000}}`
	p.wants("on", exec("ls"), `{"answer":null`+opts)
	p.wants("on", exec("rm -rf /"), `{"answer":{"block":true,"blockReason":"no rm -rf"}`+opts)
	p.wants("on", exec("echo hello"), `{"answer":{"params":{"command":"echo -n hello"}}`+opts)
	p.wants("on", exec("sudo ls"), `{"answer":{"requireApproval":{"title":"Run exec","description":"as root?","severity":"warning","timeoutBehavior":"deny"}}`+opts)

	result := func(command, text, call string) answer {
		return answer{"event": answer{"toolName": "exec", "toolCallId": call, "args": answer{"command": command},
			"result": answer{"content": []any{answer{"type": "text", "text": text}}, "details": answer{"aggregated": text}}}}
	}
	p.wants("result", result("env", "key s3cret end", "c1"), `{"answer":{"result":{"content":[{"type":"text","text":"key [redacted] end"}]}}}`)
	p.wants("result", result("ls", "a b", "c2"), `{"answer":null}`)
	p.wants("result", result("lint", "ok", "c3"), `{"answer":{"result":{"content":[{"type":"text","text":"ok"},{"type":"text","text":"2 warnings"}],"details":{"aggregated":"ok"}}}}`)

	at := func(name, session string, event answer) answer {
		return answer{"name": name, "session": session, "event": event}
	}
	p.wants("on", at("session_start", "new", answer{"sessionId": "new"}), `{"answer":null,"opts":null}`)
	p.wants("on", at("before_prompt_build", "new", answer{"prompt": "hi", "messages": []any{"long"}}), `{"answer":{"prependContext":"the start\n\nthe date"}`+opts)
	p.wants("on", at("before_agent_run", "new", answer{"prompt": "hi"}), `{"answer":null,"opts":null}`)
	p.wants("on", at("before_prompt_build", "new", answer{"prompt": "my s3cret"}), `{"answer":null`+opts)
	p.wants("on", at("before_agent_run", "new", answer{"prompt": "my s3cret"}), `{"answer":{"outcome":"block","reason":"a secret","message":"a secret"},"opts":null}`)
	p.wants("on", at("before_agent_finalize", "new", answer{"text": "unfinished"}), `{"answer":{"action":"revise","reason":"go on"}`+opts)
	if got := h.logged(); !strings.HasPrefix(got, "agent:end {") || !strings.Contains(got, `"session_id":"new"`) {
		t.Errorf("agent:end got %s", got)
	}
	// A model may give the same id to call after call: each is told once, whichever of the
	// two ways comes first.
	ended := answer{"name": "after_tool_call", "event": answer{"toolName": "exec", "toolCallId": "call_0", "params": answer{"command": "ls"}, "result": answer{"content": []any{}}, "durationMs": 1}}
	lint := result("lint", "ok", "call_0")
	const noted = `{"answer":{"result":{"content":[{"type":"text","text":"ok"},{"type":"text","text":"2 warnings"}],"details":{"aggregated":"ok"}}}}`
	for range 3 {
		p.wants("result", lint, noted)
		p.call("on", ended)
	}
	p.call("on", ended)
	p.wants("result", result("ls", "a b", "call_0"), `{"answer":null}`)
	list, err := client.New(client.Options{Socket: h.socket}).Accepted(t.Context(), client.EventQuery{Event: "after_tool_call"})
	hooktest.Must(t, err)
	told := 0
	for _, e := range list {
		if e.SessionID == "s" {
			told++
		}
	}
	if told != 7 { // c1 to c3, and four with one id
		t.Errorf("hookd was told of %d calls, want 7", told)
	}
	sending := answer{"name": "message_sending", "event": answer{"to": "u", "content": "the key is s3cret"}}
	p.wants("on", sending, `{"answer":{"cancel":true,"cancelReason":"no secrets out"}`+opts)
	p.wants("odd", nil, `{}`)
	p.wants("warned", nil, `{"warned":[]}`)
	if names := p.call("names", nil)["names"].([]any); len(names) < 14 {
		t.Errorf("got handlers for %v", names)
	}
}

// Calls one after another use one connection, calls at the same time as many
// as they are; and a daemon that was started again is found.
func TestConnections(t *testing.T) {
	h := newHouse(t)
	g := newGate(t, h.socket)
	p := plug(t, "opencode", g.socket)
	for range 20 {
		p.call("tool", bash("ls"))
	}
	if got := g.opened.Load(); got != 1 {
		t.Errorf("20 calls opened %d connections", got)
	}
	var answers []<-chan answer
	for range 6 {
		answers = append(answers, p.begin("tool", bash("rm -rf /")))
	}
	for _, ch := range answers {
		if a := <-ch; a["thrown"] != "no rm -rf" {
			t.Errorf("got %v", a)
		}
	}
	if got := g.opened.Load(); got > 6 {
		t.Errorf("6 calls at once opened %d connections", got)
	}

	h.stop()
	p.wants("tool", bash("rm -rf /"), `{"args":{"command":"rm -rf /","description":"d"}}`)
	h.start()
	p.wants("tool", bash("rm -rf /"), `{"thrown":"no rm -rf"}`)
}

// Without a daemon there is no opinion, which is said once.
func TestDaemonDown(t *testing.T) {
	unused := filepath.Join(hooktest.ShortDir(t), "s")
	const said = `{"warned":["hookd does not run, so no hook runs: start it with ` + "`hookd serve`" + `"]}`

	p := plug(t, "opencode", unused)
	p.wants("tool", bash("rm -rf /"), `{"args":{"command":"rm -rf /","description":"d"}}`)
	p.wants("result", answer{"tool": "bash", "output": answer{"output": "s3cret"}}, `{"output":{"output":"s3cret"}}`)
	p.wants("prompt", answer{"text": "hi"}, `{"parts":[{"id":"prt_1","type":"text","text":"hi"}]}`)
	p.wants("warned", nil, said)

	p = plug(t, "openclaw", unused)
	p.wants("on", answer{"name": "before_tool_call", "event": answer{"toolName": "exec"}}, `{"answer":null,"opts":{"timeoutMs":60000}}`)
	p.wants("result", answer{"event": answer{"toolName": "exec", "result": answer{"content": []any{answer{"text": "x"}}}}}, `{"answer":null}`)
	p.wants("warned", nil, said)
}

// With HOOKD_FAIL_CLOSED calls are denied that could not be checked, and no
// more than calls.
func TestFailClosed(t *testing.T) {
	p := plug(t, "opencode", filepath.Join(hooktest.ShortDir(t), "s"), "HOOKD_FAIL_CLOSED=1")
	p.wants("tool", bash("ls"), `{"thrown":"hookd could not check this"}`)
	p.wants("prompt", answer{"text": "hi"}, `{"parts":[{"id":"prt_1","type":"text","text":"hi"}]}`)
}

func TestAskNone(t *testing.T) {
	h := newHouse(t)
	p := plug(t, "opencode", h.socket, "HOOKD_ASK=none")
	p.wants("tool", bash("sudo ls"), `{"args":{"command":"sudo ls","description":"d"}}`)
	p = plug(t, "openclaw", h.socket, "HOOKD_ASK=none")
	p.wants("on", answer{"name": "before_tool_call", "event": answer{"toolName": "exec", "params": answer{"command": "sudo ls"}}}, `{"answer":null,"opts":{"timeoutMs":60000}}`)
}

// Whatever is at the other end of the socket, nothing gets into the agent.
func TestStrangers(t *testing.T) {
	for name, text := range map[string]string{"closes": "", "babbles": "hello\n", "odd": "[]\n", "null": "null\n", "refuses": `{"ok":false,"error":{"code":"draining","message":"going down"}}` + "\n"} {
		t.Run(name, func(t *testing.T) {
			p := plug(t, "opencode", stranger(t, text))
			for range 3 {
				p.wants("tool", bash("rm -rf /"), `{"args":{"command":"rm -rf /","description":"d"}}`)
			}
		})
	}
}

// stranger answers each connection with text, and closes it.
func stranger(t *testing.T, text string) (socket string) {
	t.Helper()
	socket = filepath.Join(hooktest.ShortDir(t), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Read(make([]byte, 1<<16))
			c.Write([]byte(text))
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return socket
}

// A decision that takes its time holds up the call that waits for it, and
// nothing else; a connection that ends meanwhile is no opinion.
func TestSlowDaemon(t *testing.T) {
	g := newGate(t, "")
	p := plug(t, "opencode", g.socket)
	slow := p.begin("tool", bash("ls"))
	hooktest.Until(t, "the plugin has asked", func() bool { return g.opened.Load() == 1 })
	p.wants("warned", nil, `{"warned":[]}`)
	select {
	case a := <-slow:
		t.Errorf("answered although hookd has not: %v", a)
	default:
	}
	g.shut()
	if a := <-slow; a["thrown"] != nil || a["args"] == nil {
		t.Errorf("got %v, want no opinion", a)
	}
	if got := p.call("warned", nil); len(got["warned"].([]any)) != 1 {
		t.Errorf("got %v, want one warning", got)
	}
}

package shims

import (
	"strings"
	"testing"
)

// Kilo takes OpenCode's plugin, with its own name in it.
func TestKilo(t *testing.T) {
	h := newHouse(t)
	p := plug(t, "kilo", h.socket)
	p.wants("tool", bash("rm -rf /"), `{"thrown":"no rm -rf"}`)
	p.wants("tool", bash("sudo ls"), `{"thrown":"as root? (hooks want a person to decide, and kilo cannot ask one: denied)"}`)
	p.wants("event", answer{"event": answer{"type": "session.idle", "properties": answer{"sessionID": "k"}}}, `{}`)
	if got := h.logged(); !strings.HasPrefix(got, "agent:end {") || !strings.Contains(got, `"session_id":"k"`) {
		t.Errorf("agent:end got %s", got)
	}
	if text := string(plugins["kilo"]().Files[0].Text); strings.Contains(strings.ToLower(text), "opencode") {
		t.Error("Kilo's plugin names OpenCode")
	}
}

// The same hooks serve Pi.
func TestPi(t *testing.T) {
	h := newHouse(t)
	p := plug(t, "pi", h.socket)
	call := func(command string) answer {
		return answer{"name": "tool_call", "event": answer{"toolName": "bash", "toolCallId": "c", "input": answer{"command": command}}}
	}
	const told = `,"event":{"toolName":"bash","toolCallId":"c","input":{"command":`
	p.wants("on", call("ls"), `{"answer":null`+told+`"ls"}}}`)
	p.wants("on", call("rm -rf /"), `{"answer":{"block":true,"reason":"no rm -rf"}`+told+`"rm -rf /"}}}`)
	p.wants("on", call("echo hello"), `{"answer":null`+told+`"echo -n hello"}}}`)
	p.wants("on", call("sudo ls"), `{"answer":{"block":true,"reason":"as root? (denied by a person)"}`+told+`"sudo ls"}}}`)
	alone := call("sudo ls")
	alone["hasUI"] = false
	p.wants("on", alone, `{"answer":{"block":true,"reason":"as root? (hooks want a person to decide, and no person is there: denied)"}`+told+`"sudo ls"}}}`)

	result := func(command, text string) answer {
		return answer{"name": "tool_result", "event": answer{"toolName": "bash", "input": answer{"command": command},
			"content": []any{answer{"type": "text", "text": text}}, "details": answer{"all": text}, "isError": false}}
	}
	for _, tt := range []struct{ command, text, want string }{
		{"env", "key s3cret end", `{"content":[{"text":"key [redacted] end","type":"text"}],"details":{}}`},
		{"ls", "a b", "null"},
		{"lint", "ok", `{"content":[{"text":"ok","type":"text"},{"text":"2 warnings","type":"text"}]}`},
	} {
		got := p.call("on", result(tt.command, tt.text))
		delete(got, "event")
		p.same(got, `{"answer":`+tt.want+`}`)
	}

	at := func(name string, event answer) answer { return answer{"name": name, "event": event, "session": "new"} }
	p.wants("on", at("session_start", answer{"reason": "startup"}), `{"answer":null,"event":{"reason":"startup"}}`)
	p.wants("on", at("input", answer{"text": "hi"}), `{"answer":null,"event":{"text":"hi"}}`)
	p.wants("on", at("before_agent_start", answer{}), `{"answer":{"message":{"customType":"hookd","content":"the start\n\nthe date","display":false}},"event":{}}`)
	p.wants("on", at("before_agent_start", answer{}), `{"answer":null,"event":{}}`)
	p.wants("on", at("input", answer{"text": "my s3cret"}), `{"answer":{"action":"handled"},"event":{"text":"my s3cret"}}`)
	p.call("on", at("agent_end", answer{"messages": []any{answer{"role": "assistant", "content": []any{answer{"type": "text", "text": "bye"}}}}}))
	if got := h.logged(); !strings.HasPrefix(got, "agent:end {") || !strings.Contains(got, `"response_preview":"bye"`) {
		t.Errorf("agent:end got %s", got)
	}
	p.wants("odd", nil, `{}`)
	p.wants("warned", nil, `{"warned":["hookd: a hook has blocked this prompt: a secret"],"asked":["Run bash? as root?"]}`)
}

// The same hooks serve Amp.
func TestAmp(t *testing.T) {
	h := newHouse(t)
	p := plug(t, "amp", h.socket)
	call := func(command string) answer {
		return answer{"name": "tool.call", "event": answer{"tool": "shell_command", "toolUseID": "c", "input": answer{"command": command}}}
	}
	p.wants("on", call("ls"), `{"answer":{"action":"allow"}}`)
	p.wants("on", call("rm -rf /"), `{"answer":{"action":"reject-and-continue","message":"no rm -rf"}}`)
	p.wants("on", call("echo hello"), `{"answer":{"action":"modify","input":{"command":"echo -n hello"}}}`)
	p.wants("on", call("sudo ls"), `{"answer":{"action":"reject-and-continue","message":"as root? (a person has not allowed it)"}}`)
	yes := call("sudo ls")
	yes["says"] = true
	p.wants("on", yes, `{"answer":{"action":"allow"}}`)

	result := func(command, text string) answer {
		return answer{"name": "tool.result", "event": answer{"tool": "shell_command", "status": "done", "output": text, "input": answer{"command": command}}}
	}
	p.wants("on", result("env", "key s3cret end"), `{"answer":{"status":"done","output":"key [redacted] end"}}`)
	p.wants("on", result("ls", "a"), `{"answer":null}`)
	p.wants("on", result("lint", "ok"), `{"answer":{"status":"done","output":"ok\n\n2 warnings"}}`)

	p.wants("on", answer{"name": "session.start", "event": answer{}}, `{"answer":null}`)
	p.wants("on", answer{"name": "agent.start", "event": answer{"message": "hi"}}, `{"answer":{"message":{"content":"the start\n\nthe date","display":false}}}`)
	p.wants("on", answer{"name": "agent.end", "event": answer{"message": "unfinished"}}, `{"answer":{"action":"continue","userMessage":"go on"}}`)
	if got := h.logged(); !strings.HasPrefix(got, "agent:end {") || !strings.Contains(got, `"session_id":"t"`) {
		t.Errorf("agent:end got %s", got)
	}
	p.wants("odd", nil, `{"answers":[null,null,{"action":"allow"},null,null]}`)
	p.wants("warned", nil, `{"warned":[]}`)
}

package openclaw

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as OpenClaw sends it.
var probe = neutral.Probe{
	Event: "before_tool_call",
	Payload: `{
		"sessionId": "$SESSION", "workspaceDir": "$CWD", "toolName": "exec", "params": {"command": "true"},
		"toolCallId": "call_probe"
	}`,
}

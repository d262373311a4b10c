package pi

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as hookd's extension sends it.
var probe = neutral.Probe{
	Event: "tool_call",
	Payload: `{
		"type": "tool_call", "sessionId": "$SESSION", "cwd": "$CWD",
		"toolName": "bash", "toolCallId": "probe", "input": {"command": "true"}
	}`,
}

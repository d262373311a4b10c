package copilot

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as Copilot sends it.
var probe = neutral.Probe{
	Event: "preToolUse",
	Payload: `{
		"sessionId": "$SESSION", "timestamp": "$MILLIS", "cwd": "$CWD",
		"toolName": "bash", "toolArgs": {"command": "true"}
	}`,
}

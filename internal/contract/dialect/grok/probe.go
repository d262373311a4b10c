package grok

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as Grok Build sends it.
var probe = neutral.Probe{
	Event: "PreToolUse",
	Payload: `{
		"hookEventName": "pre_tool_use", "sessionId": "$SESSION", "cwd": "$CWD", "workspaceRoot": "$CWD",
		"toolName": "run_terminal_command", "toolInput": {"command": "true"}, "timestamp": "$TIME"
	}`,
}

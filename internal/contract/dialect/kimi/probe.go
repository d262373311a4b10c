package kimi

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as Kimi Code sends it.
var probe = neutral.Probe{
	Event: "PreToolUse",
	Payload: `{
		"session_id": "$SESSION", "cwd": "$CWD", "hook_event_name": "PreToolUse",
		"tool_name": "Bash", "tool_input": {"command": "true"}, "tool_call_id": "call_probe"
	}`,
}

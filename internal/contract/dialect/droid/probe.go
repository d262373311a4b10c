package droid

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as Droid sends it.
var probe = neutral.Probe{
	Event: "PreToolUse",
	Payload: `{
		"session_id": "$SESSION", "cwd": "$CWD", "hook_event_name": "PreToolUse", "permission_mode": "off",
		"tool_name": "Execute", "tool_input": {"command": "true", "summary": "probe"}
	}`,
}

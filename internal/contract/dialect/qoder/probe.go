package qoder

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as Qoder sends it.
var probe = neutral.Probe{
	Event: "PreToolUse",
	Payload: `{
		"session_id": "$SESSION", "cwd": "$CWD", "hook_event_name": "PreToolUse",
		"tool_name": "Bash", "tool_input": {"command": "true"}, "tool_use_id": "call_probe"
	}`,
}

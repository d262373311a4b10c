package qwen

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as Qwen Code sends it.
var probe = neutral.Probe{
	Event: "PreToolUse",
	Payload: `{
		"session_id": "$SESSION", "cwd": "$CWD", "hook_event_name": "PreToolUse", "timestamp": "$TIME",
		"tool_name": "run_shell_command", "tool_input": {"command": "true"}, "tool_use_id": "toolu_probe"
	}`,
}

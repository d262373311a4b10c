package dockeragent

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as docker-agent sends it.
var probe = neutral.Probe{
	Event: "pre_tool_use",
	Payload: `{
		"session_id": "$SESSION", "cwd": "$CWD", "hook_event_name": "pre_tool_use",
		"tool_name": "shell", "tool_input": {"cmd": "true", "cwd": "."}, "tool_use_id": "call_probe"
	}`,
}

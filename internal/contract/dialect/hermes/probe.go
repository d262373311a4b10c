package hermes

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as Hermes sends it.
var probe = neutral.Probe{
	Event: "pre_tool_call",
	Payload: `{
		"session_id": "$SESSION", "cwd": "$CWD", "hook_event_name": "pre_tool_call", "profile": "default",
		"tool_name": "terminal", "tool_input": {"command": "true"}, "extra": {}
	}`,
}

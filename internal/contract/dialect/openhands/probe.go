package openhands

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as OpenHands sends it.
var probe = neutral.Probe{
	Event: "PreToolUse",
	Payload: `{
		"event_type": "PreToolUse", "session_id": "$SESSION", "working_dir": "$CWD",
		"tool_name": "terminal", "tool_input": {"command": "true"}, "metadata": {}
	}`,
}

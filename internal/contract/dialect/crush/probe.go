package crush

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as Crush sends it.
var probe = neutral.Probe{
	Event: "PreToolUse",
	Payload: `{
		"event": "PreToolUse", "session_id": "$SESSION", "cwd": "$CWD",
		"tool_name": "bash", "tool_input": {"command": "true"}
	}`,
}

package familiar

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as Familiar sends it.
var probe = neutral.Probe{
	Event: "beforeToolCall",
	Payload: `{
		"agent_name": "$SESSION", "conversation_id": "$SESSION", "workspace": "$CWD", "timestamp": "$TIME",
		"tool_name": "Bash", "tool_args": {"command": "true"}, "tool_call_index": 0
	}`,
}

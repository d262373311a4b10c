package kiro

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probes are of a tool whose arguments are Kiro's own.
var probes = []neutral.Probe{
	{
		Kind: neutral.ReadCall, Event: "preToolUse",
		Payload: `{
			"hook_event_name": "preToolUse", "session_id": "$SESSION", "cwd": "$CWD",
			"tool_name": "read", "tool_input": {"operations": [{"mode": "Line", "path": "$FILE"}]}
		}`,
	},
}

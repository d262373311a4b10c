package librefang

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probes are the result of a call, as LibreFang sends it: it has no event before a call.
var probes = []neutral.Probe{{
	Kind: neutral.RunCall, Event: "transform_tool_result",
	Payload: `{
		"session_id": "$SESSION", "cwd": "$CWD", "tool_name": "Bash", "tool_output": "hookd-doctor"
	}`,
}}

package goose

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as goose sends it.
var probe = neutral.Probe{
	Event: "PreToolUse",
	Payload: `{
		"event": "PreToolUse", "session_id": "$SESSION", "working_dir": "$CWD", "matcher_context": "developer__shell",
		"tool_name": "developer__shell", "tool_input": {"command": "true"}, "tool_call_id": "call_probe"
	}`,
}

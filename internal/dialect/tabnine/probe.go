package tabnine

import "github.com/hookd/hookd/internal/dialect/neutral"

// probe is a call of `true` in the shell, as Tabnine sends it.
var probe = neutral.Probe{
	Event: "BeforeTool",
	Payload: `{
		"session_id": "$SESSION", "cwd": "$CWD", "hook_event_name": "BeforeTool", "timestamp": "$TIME",
		"tool_name": "run_shell_command", "tool_input": {"command": "true"}
	}`,
}

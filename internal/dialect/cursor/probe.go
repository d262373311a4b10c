package cursor

import "github.com/hookd/hookd/internal/dialect/neutral"

// probe is a call of `true` in the shell, as Cursor sends it.
var probe = neutral.Probe{
	Event: "beforeShellExecution",
	Payload: `{
		"conversation_id": "$SESSION", "generation_id": "$SESSION", "hook_event_name": "beforeShellExecution",
		"workspace_roots": ["$CWD"], "command": "true", "cwd": "$CWD"
	}`,
}

package opencode

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as OpenCode sends it.
var probe = neutral.Probe{
	Event: "tool.execute.before",
	Payload: `{
		"session_id": "$SESSION", "cwd": "$CWD", "tool": "bash", "args": {"command": "true"}
	}`,
}

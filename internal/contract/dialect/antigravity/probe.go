package antigravity

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as Antigravity sends it.
var probe = neutral.Probe{
	Event: "PreToolUse",
	Payload: `{
		"conversationId": "$SESSION", "stepIdx": 0, "workspacePaths": ["$CWD"],
		"toolCall": {"name": "run_command", "args": {"CommandLine": "true"}}
	}`,
}

package amp

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as hookd's plugin sends it.
var probe = neutral.Probe{
	Event: "tool.call",
	Payload: `{
		"threadID": "$SESSION", "cwd": "$CWD", "tool": "shell_command", "input": {"command": "true"},
			"toolUseID": "probe"
	}`,
}

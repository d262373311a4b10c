package cline

import "github.com/hookd/hookd/internal/dialect/neutral"

// probe is a call of `true` in the shell, as Cline sends it.
var probe = neutral.Probe{
	Event: "PreToolUse",
	Payload: `{
		"hookName": "tool_call", "taskId": "$SESSION", "timestamp": "$TIME", "workspaceRoots": ["$CWD"],
		"tool_call": {"id": "call_probe", "name": "run_commands", "input": {"commands": ["true"]}},
		"preToolUse": {"toolName": "run_commands", "parameters": {"commands": "[\"true\"]"}}
	}`,
}

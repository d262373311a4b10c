package codex

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as Codex sends it.
var probe = neutral.Probe{
	Event: "PreToolUse",
	Payload: `{
		"session_id": "$SESSION", "cwd": "$CWD", "hook_event_name": "PreToolUse", "permission_mode": "default",
		"turn_id": "$SESSION", "tool_name": "Bash", "tool_input": {"command": "true"}, "tool_use_id": "call_probe"
	}`,
}

// probes are of tools whose arguments are Codex's own.
var probes = []neutral.Probe{
	{
		Kind: neutral.WriteCall, Event: "PreToolUse",
		Payload: `{
			"session_id": "$SESSION", "cwd": "$CWD", "hook_event_name": "PreToolUse", "permission_mode": "default",
			"turn_id": "$SESSION", "tool_name": "apply_patch", "tool_use_id": "call_probe",
			"tool_input": {"command": "*** Begin Patch\n*** Add File: hookd-doctor.txt\n+\n*** End Patch"}
		}`,
	},
}

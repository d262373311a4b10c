package codex

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probes are of a tool whose argument is Codex's own.
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

package claudecode

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as Claude Code sends it.
var probe = neutral.Probe{
	Event: "PreToolUse",
	Payload: `{
		"session_id": "$SESSION", "cwd": "$CWD", "hook_event_name": "PreToolUse", "permission_mode": "default",
		"tool_name": "Bash", "tool_input": {"command": "true"}, "tool_use_id": "toolu_probe"
	}`,
}

var probes = []neutral.Probe{{
	Kind: neutral.LineCall, Event: "PreSkillShellCommand",
	Payload: `{
		"session_id": "$SESSION", "cwd": "$CWD", "hook_event_name": "PreSkillShellCommand", "permission_mode": "default",
		"tool_name": "Bash", "tool_input": {"command": "true"}, "tool_use_id": "toolu_probe",
		"command_name": "probe", "command_source": "user", "invoked_by": "user"
	}`,
}}

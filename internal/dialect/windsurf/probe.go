package windsurf

import "github.com/hookd/hookd/internal/dialect/neutral"

// probe is a call of `true` in the shell, as Windsurf sends it.
var probe = neutral.Probe{
	Event: "pre_run_command",
	Payload: `{
		"agent_action_name": "pre_run_command", "trajectory_id": "$SESSION", "execution_id": "$SESSION",
		"timestamp": "$TIME", "tool_info": {"command_line": "true", "cwd": "$CWD"}
	}`,
}

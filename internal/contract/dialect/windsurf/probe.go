package windsurf

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as Windsurf sends it.
var probe = neutral.Probe{
	Event: "pre_run_command",
	Payload: `{
		"agent_action_name": "pre_run_command", "trajectory_id": "$SESSION", "execution_id": "$SESSION",
		"timestamp": "$TIME", "tool_info": {"command_line": "true", "cwd": "$CWD"}
	}`,
}

// probes are of calls that Windsurf reports by other events.
var probes = []neutral.Probe{
	{
		Kind: neutral.WriteCall, Event: "pre_write_code",
		Payload: `{
			"agent_action_name": "pre_write_code", "trajectory_id": "$SESSION", "execution_id": "$SESSION",
			"timestamp": "$TIME", "tool_info": {"file_path": "$FILE", "edits": [{"old_string": "a", "new_string": "b"}]}
		}`,
	},
	{
		Kind: neutral.ReadCall, Event: "pre_read_code",
		Payload: `{
			"agent_action_name": "pre_read_code", "trajectory_id": "$SESSION", "execution_id": "$SESSION",
			"timestamp": "$TIME", "tool_info": {"file_path": "$FILE"}
		}`,
	},
	{
		Kind: neutral.MCPCall, Event: "pre_mcp_tool_use",
		Payload: `{
			"agent_action_name": "pre_mcp_tool_use", "trajectory_id": "$SESSION", "execution_id": "$SESSION",
			"timestamp": "$TIME", "tool_info": {"mcp_server_name": "hookd", "mcp_tool_name": "probe", "mcp_tool_arguments": {}}
		}`,
	},
}

package gemini

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as Gemini CLI sends it.
var probe = neutral.Probe{
	Event: "BeforeTool",
	Payload: `{
		"session_id": "$SESSION", "cwd": "$CWD", "hook_event_name": "BeforeTool", "timestamp": "$TIME",
		"tool_name": "run_shell_command", "tool_input": {"command": "true"}
	}`,
}

// probes are of a tool that Gemini CLI names in a way of its own.
var probes = []neutral.Probe{
	{
		Kind: neutral.MCPCall, Event: "BeforeTool",
		Payload: `{
			"session_id": "$SESSION", "cwd": "$CWD", "hook_event_name": "BeforeTool", "timestamp": "$TIME",
			"tool_name": "mcp_hookd_probe", "tool_input": {},
			"mcp_context": {"server_name": "hookd", "tool_name": "probe"}
		}`,
	},
}

package cursor

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as Cursor sends it.
var probe = neutral.Probe{
	Event: "beforeShellExecution",
	Payload: `{
		"conversation_id": "$SESSION", "generation_id": "$SESSION", "hook_event_name": "beforeShellExecution",
		"workspace_roots": ["$CWD"], "command": "true", "cwd": "$CWD"
	}`,
}

// probes are of calls that Cursor reports by other events.
var probes = []neutral.Probe{
	{
		Kind: neutral.WriteCall, Event: "preToolUse",
		Payload: `{
			"conversation_id": "$SESSION", "generation_id": "$SESSION", "hook_event_name": "preToolUse",
			"workspace_roots": ["$CWD"], "cwd": "$CWD", "tool_use_id": "call_probe",
			"tool_name": "Write", "tool_input": {"file_path": "$FILE", "content": ""}
		}`,
	},
	{
		Kind: neutral.ReadCall, Event: "beforeReadFile",
		Payload: `{
			"conversation_id": "$SESSION", "generation_id": "$SESSION", "hook_event_name": "beforeReadFile",
			"workspace_roots": ["$CWD"], "file_path": "$FILE", "content": ""
		}`,
	},
	{
		Kind: neutral.MCPCall, Event: "beforeMCPExecution",
		Payload: `{
			"conversation_id": "$SESSION", "generation_id": "$SESSION", "hook_event_name": "beforeMCPExecution",
			"workspace_roots": ["$CWD"], "tool_name": "MCP:probe", "tool_input": "{}", "mcp_server_name": "hookd"
		}`,
	},
}

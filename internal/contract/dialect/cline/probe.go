package cline

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probes are of the tools of Cline's command line, whose arguments are its own.
var probes = []neutral.Probe{
	{
		Kind: neutral.RunCall, Event: "PreToolUse",
		Payload: `{
			"hookName": "tool_call", "taskId": "$SESSION", "timestamp": "$TIME", "workspaceRoots": ["$CWD"],
			"tool_call": {"id": "call_probe", "name": "run_commands", "input": {"commands": ["true"]}},
			"preToolUse": {"toolName": "run_commands", "parameters": {"commands": "[\"true\"]"}}
		}`,
	},
	{
		Kind: neutral.WriteCall, Event: "PreToolUse",
		Payload: `{
			"hookName": "tool_call", "taskId": "$SESSION", "timestamp": "$TIME", "workspaceRoots": ["$CWD"],
			"tool_call": {"id": "call_probe", "name": "editor", "input": {"path": "$FILE", "new_text": ""}},
			"preToolUse": {"toolName": "editor", "parameters": {}}
		}`,
	},
	{
		Kind: neutral.ReadCall, Event: "PreToolUse",
		Payload: `{
			"hookName": "tool_call", "taskId": "$SESSION", "timestamp": "$TIME", "workspaceRoots": ["$CWD"],
			"tool_call": {"id": "call_probe", "name": "read_files", "input": {"files": [{"path": "$FILE"}]}},
			"preToolUse": {"toolName": "read_files", "parameters": {}}
		}`,
	},
	{
		Kind: neutral.FetchCall, Event: "PreToolUse",
		Payload: `{
			"hookName": "tool_call", "taskId": "$SESSION", "timestamp": "$TIME", "workspaceRoots": ["$CWD"],
			"tool_call": {"id": "call_probe", "name": "fetch_web_content", "input": {"requests": [{"url": "https://hookd.invalid/"}]}},
			"preToolUse": {"toolName": "fetch_web_content", "parameters": {}}
		}`,
	},
	{
		Kind: neutral.StartCall, Event: "PreToolUse",
		Payload: `{
			"hookName": "tool_call", "taskId": "$SESSION", "timestamp": "$TIME", "workspaceRoots": ["$CWD"],
			"tool_call": {"id": "call_probe", "name": "spawn_agent", "input": {"systemPrompt": "nothing", "task": "nothing"}},
			"preToolUse": {"toolName": "spawn_agent", "parameters": {}}
		}`,
	},
}

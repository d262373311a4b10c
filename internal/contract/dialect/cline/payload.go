package cline

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// Table says which fields of its payloads hold which facts: each event has an object of
// its own.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.FieldFact{
			{Field: "taskId", Fact: neutral.Session},
			{Field: "parent_agent_id", Fact: neutral.ParentAgent},
			{Field: "hookName", Fact: neutral.Event},
			{Field: "workspaceRoots.0", Fact: neutral.Cwd},
			{Field: "preToolUse.parameters.server_name", Fact: neutral.MCPServer, Events: "PreToolUse"},
			{Field: "preToolUse.parameters.tool_name", Fact: neutral.MCPTool, Events: "PreToolUse"},
			{Field: "postToolUse.parameters.server_name", Fact: neutral.MCPServer, Events: "PostToolUse"},
			{Field: "postToolUse.parameters.tool_name", Fact: neutral.MCPTool, Events: "PostToolUse"},
			{Field: "tool_call.name", Fact: neutral.Tool, Events: "PreToolUse"},
			{Field: "tool_call.id", Fact: neutral.Call, Events: "PreToolUse"},
			{Field: "preToolUse.toolName", Fact: neutral.Tool, Events: "PreToolUse"},
			{Field: "tool_input", Fact: neutral.Input, Events: "PreToolUse"}, // with what hooks have changed
			{Field: "tool_call.input", Fact: neutral.Input, Events: "PreToolUse"},
			{Field: "preToolUse.parameters", Fact: neutral.Input, Events: "PreToolUse", Form: neutral.Texts},
			{Field: "tool_result.name", Fact: neutral.Tool, Events: "PostToolUse"},
			{Field: "tool_result.id", Fact: neutral.Call, Events: "PostToolUse"},
			{Field: "tool_result.input", Fact: neutral.Input, Events: "PostToolUse"},
			{Field: "tool_result.output", Fact: neutral.Result, Events: "PostToolUse", Form: neutral.Flat},
			{Field: "postToolUse.toolName", Fact: neutral.Tool, Events: "PostToolUse"},
			{Field: "postToolUse.parameters", Fact: neutral.Input, Events: "PostToolUse", Form: neutral.Texts},
			{Field: "postToolUse.result", Fact: neutral.Result, Events: "PostToolUse", Form: neutral.Flat},
			{Field: "postToolUse.success", Fact: neutral.Failed, Events: "PostToolUse", Form: neutral.Not},
			{Field: "postToolUse.executionTimeMs", Fact: neutral.Took, Events: "PostToolUse"},
			{Field: "turn.outputText", Fact: neutral.Answer, Events: "TaskComplete"},
			{Field: "error.message", Fact: neutral.ErrorText, Events: "TaskError"},
			{Field: "reason", Fact: neutral.Reason, Events: "TaskCancel SessionShutdown"},
			{Field: "userPromptSubmit.prompt", Fact: neutral.Prompt, Events: "UserPromptSubmit"},
			{Field: "taskStart.taskMetadata.initialTask", Fact: neutral.Prompt, Events: "TaskStart"},
		},
		Fixed: []neutral.Fixed{{Events: "TaskError", Fact: neutral.Failed, Value: "true"}},
		Tools: tools, Others: others,
		MCPJoin:    "__", // of its command line
		MCPCallers: "use_mcp_tool access_mcp_resource",
	}
}

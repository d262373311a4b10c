package events

// copilotRows is GitHub Copilot's contract in its camelCase form
// (reference/dialects.md A6); its PascalCase form is Claude Code's.
// userPromptTransformed comes on top of userPromptSubmitted and
// preMcpToolCall on top of preToolUse, so they have kinds of their own.
func copilotRows() []Contract {
	call := fields(copilotCommon,
		Field{"toolName", String, false, "the tool"},
		Field{"toolArgs", Any, false, "the call's arguments: an object, or its JSON text"},
	)
	prompt := fields(copilotCommon, Field{"prompt", String, false, "the user's text"})
	return []Contract{
		{Name: "sessionStart", Kind: KindSessionStart, When: "a session starts or resumes", Fields: fields(copilotCommon,
			Field{"source", String, false, "startup, resume or new"},
			Field{"initialPrompt", String, false, "the first prompt"},
		), Context: true},
		{Name: "sessionEnd", Kind: KindSessionEnd, When: "a session ends",
			Fields: fields(copilotCommon, Field{"reason", String, false, "complete, error, abort, timeout or user_exit"})},
		{Name: "userPromptSubmitted", Kind: KindPromptSubmit, When: "the user submitted a prompt", Fields: prompt},
		{Name: "userPromptTransformed", When: "a prompt was transformed", Fields: prompt},
		{Name: "preToolUse", Kind: KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true,
			Decision: DecisionVerdict, Rewrite: RewriteInput, Target: "toolArgs"},
		{Name: "preMcpToolCall", When: "before an MCP tool call", Fields: copilotCommon},
		{Name: "permissionRequest", Kind: KindPermissionRequest, When: "the user would be asked for permission", Fields: call,
			ToolMatched: true, CanBlock: true, Decision: DecisionPermission},
		{Name: "postToolUse", Kind: KindToolAfter, When: "a tool call succeeded",
			Fields:      fields(call, Field{"toolResult", Object, false, "resultType, textResultForLlm"}),
			ToolMatched: true, Sequence: true, Context: true, Rewrite: RewriteResponse, Target: "toolResult"},
		{Name: "postToolUseFailure", Kind: KindToolAfter, Failed: true, When: "a tool call failed",
			Fields: fields(call, Field{"error", Any, false, "what went wrong"}), ToolMatched: true, Context: true},
		{Name: "agentStop", Kind: KindTurnStop, When: "the agent finished; a block keeps it working", Fields: fields(copilotCommon,
			Field{"transcriptPath", String, false, "file of the conversation"},
			Field{"stopReason", String, false, "end_turn"},
			Field{"stop_hook_active", Boolean, false, "it already goes on because of a stop hook"},
		), CanBlock: true},
		{Name: "subagentStart", Kind: KindSubagentStart, When: "a subagent starts",
			Fields: fields(copilotCommon, Field{"agentName", String, false, "the subagent"}), Context: true},
		{Name: "subagentStop", Kind: KindSubagentStop, When: "a subagent finished; a block keeps it working", Fields: fields(copilotCommon,
			Field{"agentId", String, false, "the subagent"},
			Field{"agentType", String, false, "its type"},
			Field{"response", String, false, "its result"},
		), CanBlock: true},
		{Name: "errorOccurred", Kind: KindError, When: "something went wrong", Fields: fields(copilotCommon,
			Field{"error", Object, false, "message, name, stack"},
			Field{"errorContext", String, false, "model_call, tool_execution, system or user_input"},
			Field{"recoverable", Boolean, false, "the agent can go on"},
		)},
		{Name: "preCompact", Kind: KindCompactBefore, When: "before the conversation is compacted", Fields: fields(copilotCommon,
			Field{"trigger", String, false, "manual or auto"},
			Field{"customInstructions", String, true, "what the user asked to keep"},
		)},
		{Name: "notification", Kind: KindNotification, When: "a notification is shown", Fields: fields(copilotCommon,
			Field{"message", String, false, "its text"},
			Field{"title", String, false, "its title"},
			Field{"notification_type", String, false, "shell_completed, agent_idle, …"},
		), Context: true},
	}
}

var copilotCommon = []Field{
	{"sessionId", String, false, "the session"},
	{"timestamp", Any, false, "milliseconds since 1970"},
	{"cwd", String, false, "the current directory"},
}

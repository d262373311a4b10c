package events

// geminiRows is Gemini CLI's contract (reference/dialects.md A3).
// BeforeToolSelection comes on top of BeforeModel, so it has its own kind.
func geminiRows() []Contract {
	call := fields(geminiCommon,
		Field{"tool_name", String, false, "the tool"},
		Field{"tool_input", Object, false, "the call's arguments"},
		Field{"mcp_context", Object, false, "the MCP server, if it is an MCP tool"},
		Field{"original_request_name", String, false, "the tool the model asked for"},
	)
	request := fields(geminiCommon, Field{"llm_request", Object, false, "model, messages, config, toolConfig"})
	prompt := fields(geminiCommon, Field{"prompt", String, false, "the user's text"})
	return []Contract{
		{Name: "SessionStart", Kind: KindSessionStart, When: "a session starts or resumes",
			Fields: fields(geminiCommon, Field{"source", String, false, "startup, resume or clear"}), Context: true},
		{Name: "SessionEnd", Kind: KindSessionEnd, When: "a session ends",
			Fields: fields(geminiCommon, Field{"reason", String, false, "exit, clear, logout, prompt_input_exit or other"})},
		{Name: "BeforeAgent", Kind: KindPromptSubmit, When: "the user submitted a prompt", Fields: prompt,
			CanBlock: true, Context: true},
		{Name: "AfterAgent", Kind: KindTurnStop, When: "the agent finished responding; a block makes it try again", Fields: fields(prompt,
			Field{"prompt_response", String, false, "the final text"},
			Field{"stop_hook_active", Boolean, false, "it already goes on because of a stop hook"},
		), CanBlock: true},
		{Name: "BeforeTool", Kind: KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true,
			Decision: DecisionVerdict, Rewrite: RewriteInput, Target: "tool_input"},
		{Name: "AfterTool", Kind: KindToolAfter, When: "a tool call ended; a block replaces the result",
			Fields:      fields(call, Field{"tool_response", Object, false, "llmContent, returnDisplay, error"}),
			ToolMatched: true, CanBlock: true, Context: true},
		{Name: "BeforeModel", Streaming: true, Kind: KindModelBefore, When: "before a model call", Fields: request, CanBlock: true},
		{Name: "BeforeToolSelection", Streaming: true, When: "before the model selects tools", Fields: request},
		{Name: "AfterModel", Streaming: true, Kind: KindModelAfter, When: "a chunk of the model's answer came",
			Fields: fields(request, Field{"llm_response", Object, false, "the chunk"}), CanBlock: true},
		{Name: "PreCompress", Kind: KindCompactBefore, When: "before the conversation is compressed",
			Fields: fields(geminiCommon, Field{"trigger", String, false, "auto or manual"})},
		{Name: "Notification", Kind: KindNotification, When: "a notification is shown", Fields: fields(geminiCommon,
			Field{"notification_type", String, false, "ToolPermission"},
			Field{"message", String, false, "its text"},
			Field{"details", Object, false, "more about it"},
		)},
	}
}

var geminiCommon = []Field{
	{"session_id", String, false, "the session"},
	{"transcript_path", String, false, "file of the conversation"},
	{"cwd", String, false, "the current directory"},
	{"hook_event_name", String, false, "the event's name"},
	{"timestamp", String, false, "ISO 8601"},
}

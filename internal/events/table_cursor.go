package events

// cursorRows is Cursor's contract (reference/dialects.md A5). A failed guard
// denies here whatever Cursor's own failClosed says, as on every tool.before.
func cursorRows() []Contract {
	rows := cursorToolRows()
	rows = append(rows, cursorFileRows()...)
	return append(rows, cursorTurnRows()...)
}

var cursorCommon = []Field{
	{"conversation_id", String, false, "the conversation"},
	{"generation_id", String, false, "the turn"},
	{"model", String, false, "the model"},
	{"model_id", String, false, "the model without its parameters"},
	{"model_params", Array, false, "objects of id and value"},
	{"hook_event_name", String, false, "the event's name"},
	{"cursor_version", String, false, "version of Cursor"},
	{"workspace_roots", Array, false, "the open folders"},
	{"user_email", String, true, "the user"},
	{"transcript_path", String, true, "file of the conversation"},
}

var cursorTook = Field{"duration", Number, false, "how long it ran, in milliseconds"}

func cursorToolRows() []Contract {
	call := fields(cursorCommon,
		Field{"tool_name", String, false, "the tool"},
		Field{"tool_input", Object, false, "the call's arguments"},
		Field{"tool_use_id", String, false, "the call"},
		Field{"cwd", String, false, "the current directory"},
	)
	shell := fields(cursorCommon,
		Field{"command", String, false, "the command line"},
		Field{"cwd", String, false, "where it runs"},
		Field{"sandbox", Boolean, false, "it runs in the sandbox"},
	)
	mcp := fields(cursorCommon,
		Field{"tool_name", String, false, "the tool"},
		Field{"tool_input", String, false, "the call's arguments as JSON text"},
	)
	return []Contract{
		{Name: "preToolUse", Kind: KindToolBefore, When: "before a tool call",
			Fields:      fields(call, Field{"agent_message", String, false, "what the agent says about it"}),
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true,
			Decision: DecisionVerdict, Rewrite: RewriteInput, Target: "tool_input"},
		{Name: "beforeShellExecution", Kind: KindToolBefore, Tools: "Bash", When: "before a shell command", Fields: shell,
			CanBlock: true, FailClosed: true, Decision: DecisionVerdict},
		{Name: "beforeMCPExecution", Kind: KindToolBefore, Tools: "mcp__*", When: "before an MCP tool call", Fields: fields(mcp,
			Field{"mcp_server_name", String, false, "the server"},
			Field{"url", String, false, "its address"},
			Field{"mcp_server_url", String, false, "its address"},
			Field{"command", String, false, "its command line"},
		), ToolMatched: true, CanBlock: true, FailClosed: true, Decision: DecisionVerdict},
		{Name: "postToolUse", Kind: KindToolAfter, When: "a tool call succeeded",
			Fields:      fields(call, Field{"tool_output", String, false, "the result as JSON text"}, cursorTook),
			ToolMatched: true, Sequence: true, Context: true, Rewrite: RewriteResponse, Target: "tool_output"},
		{Name: "postToolUseFailure", Kind: KindToolAfter, Failed: true, When: "a tool call failed", Fields: fields(call,
			Field{"error_message", String, false, "what went wrong"},
			Field{"failure_type", String, false, "timeout, error or permission_denied"},
			cursorTook,
			Field{"is_interrupt", Boolean, false, "the user interrupted it"},
		), ToolMatched: true},
		{Name: "afterShellExecution", Kind: KindToolAfter, Tools: "Bash", When: "a shell command ended",
			Fields: fields(shell, Field{"output", String, false, "what it printed"}, cursorTook)},
		{Name: "afterMCPExecution", Kind: KindToolAfter, Tools: "mcp__*", When: "an MCP tool call ended",
			Fields: fields(mcp, Field{"result_json", String, false, "the result as JSON text"}, cursorTook), ToolMatched: true},
	}
}

func cursorFileRows() []Contract {
	file := fields(cursorCommon, Field{"file_path", String, false, "the file"})
	content := fields(file, Field{"content", String, false, "its text"})
	edits := fields(file, Field{"edits", Array, false, "objects of old_string and new_string"})
	return []Contract{
		{Name: "beforeReadFile", Kind: KindToolBefore, Tools: "Read", When: "before the agent reads a file",
			Fields:   fields(content, Field{"attachments", Array, false, "objects of type and file_path"}),
			CanBlock: true, FailClosed: true, Decision: DecisionVerdict},
		{Name: "beforeTabFileRead", Kind: KindToolBefore, Tools: "Read", When: "before Tab reads a file", Fields: content,
			CanBlock: true, FailClosed: true, Decision: DecisionVerdict},
		{Name: "afterFileEdit", Kind: KindToolAfter, Tools: "Edit Write", Also: KindFileChanged, When: "the agent edited a file", Fields: edits},
		{Name: "afterTabFileEdit", Kind: KindToolAfter, Tools: "Edit Write", When: "Tab edited a file", Fields: edits},
	}
}

func cursorTurnRows() []Contract {
	text := fields(cursorCommon, Field{"text", String, false, "what the model said"})
	session := fields(cursorCommon,
		Field{"session_id", String, false, "the session"},
		Field{"is_background_agent", Boolean, false, "it runs in the background"},
	)
	subagent := fields(cursorCommon,
		Field{"subagent_type", String, false, "its type"},
		Field{"task", String, false, "what it has to do"},
	)
	return []Contract{
		{Name: "sessionStart", Kind: KindSessionStart, When: "a conversation starts",
			Fields: fields(session, Field{"composer_mode", String, false, "agent, ask or edit"}), Context: true},
		{Name: "sessionEnd", Kind: KindSessionEnd, When: "a conversation ends", Fields: fields(session,
			Field{"reason", String, false, "completed, aborted, error, window_close or user_close"},
			Field{"duration_ms", Number, false, "how long it lasted, in milliseconds"},
			Field{"final_status", String, false, "how it ended"},
			Field{"error_message", String, false, "what went wrong"},
		)},
		{Name: "beforeSubmitPrompt", Kind: KindPromptSubmit, When: "the user submits a prompt", Fields: fields(cursorCommon,
			Field{"prompt", String, false, "its text"},
			Field{"attachments", Array, false, "objects of type and file_path"},
		), CanBlock: true},
		{Name: "stop", Kind: KindTurnStop, When: "the agent finished; a block keeps it working", Fields: fields(cursorCommon,
			Field{"status", String, false, "completed, aborted or error"},
			Field{"loop_count", Integer, false, "times a stop hook made it go on"},
		), CanBlock: true},
		{Name: "afterAgentResponse", Kind: KindModelAfter, When: "the model answered", Fields: text},
		{Name: "afterAgentThought", Kind: KindModelAfter, When: "the model thought",
			Fields: fields(text, Field{"duration_ms", Number, false, "how long, in milliseconds"})},
		{Name: "subagentStart", Kind: KindSubagentStart, When: "a subagent is to start", Fields: fields(subagent,
			Field{"subagent_id", String, false, "the subagent"},
			Field{"parent_conversation_id", String, false, "the conversation that starts it"},
			Field{"tool_call_id", String, false, "the call that starts it"},
			Field{"subagent_model", String, false, "its model"},
			Field{"is_parallel_worker", Boolean, false, "it runs beside others"},
			Field{"git_branch", String, false, "its branch"},
		), CanBlock: true, Decision: DecisionVerdict},
		{Name: "subagentStop", Kind: KindSubagentStop, When: "a subagent finished; a block keeps it working", Fields: fields(subagent,
			Field{"status", String, false, "completed, error or aborted"},
			Field{"description", String, false, "its task in short"},
			Field{"summary", String, false, "its result"},
			Field{"duration_ms", Number, false, "how long it ran, in milliseconds"},
			Field{"message_count", Integer, false, "messages exchanged"},
			Field{"tool_call_count", Integer, false, "tool calls"},
			Field{"loop_count", Integer, false, "times a stop hook made it go on"},
			Field{"modified_files", Array, false, "the files it changed"},
			Field{"agent_transcript_path", String, true, "file of its conversation"},
		), CanBlock: true},
		{Name: "preCompact", Kind: KindCompactBefore, When: "before the conversation is compacted", Fields: fields(cursorCommon,
			Field{"trigger", String, false, "auto or manual"},
			Field{"context_usage_percent", Number, false, "how full the context is"},
			Field{"context_tokens", Integer, false, "tokens in the context"},
			Field{"context_window_size", Integer, false, "the model's limit"},
			Field{"message_count", Integer, false, "messages"},
			Field{"messages_to_compact", Integer, false, "messages that go"},
			Field{"is_first_compaction", Boolean, false, "the first of the conversation"},
		)},
		{Name: "workspaceOpen", When: "a workspace was opened", Fields: []Field{
			{"hook_event_name", String, false, "the event's name"},
			{"cursor_version", String, false, "version of Cursor"},
			{"workspace_roots", Array, false, "the open folders"},
			{"user_email", String, true, "the user"},
		}},
	}
}

package events

// claudeCodeRows is Claude Code's contract (reference/dialects.md A1). Names
// that it sends in addition to the one of SPEC's table for the same moment
// (Setup, PermissionDenied, PostToolBatch) keep a kind of their own, so that
// no hook of another dialect runs twice for one thing.
func claudeCodeRows() []Contract {
	rows := claudeToolRows()
	rows = append(rows, claudeTurnRows()...)
	rows = append(rows, claudeSessionRows()...)
	return append(rows, claudeTeamRows()...)
}

var claudeCommon = []Field{
	{"session_id", String, false, "the session"},
	{"prompt_id", String, false, "the prompt"},
	{"transcript_path", String, false, "file of the conversation"},
	{"cwd", String, false, "the current directory"},
	{"permission_mode", String, false, "default, plan, acceptEdits, auto, dontAsk or bypassPermissions"},
	{"effort", Object, false, "level"},
	{"hook_event_name", String, false, "the event's name"},
	{"agent_id", String, false, "inside subagents"},
	{"agent_type", String, false, "inside subagents"},
}

var claudeCall = []Field{
	{"tool_name", String, false, "the tool"},
	{"tool_input", Object, false, "the call's arguments"},
}

var claudeStop = []Field{
	{"stop_hook_active", Boolean, false, "it already goes on because of a stop hook"},
	{"last_assistant_message", String, false, "the final text"},
	{"background_tasks", Array, false, "tasks still running"},
	{"session_crons", Array, false, "scheduled prompts"},
}

func claudeToolRows() []Contract {
	call := fields(fields(claudeCommon, claudeCall...), Field{"tool_use_id", String, false, "the call"})
	took := Field{"duration_ms", Number, false, "how long the tool ran, in milliseconds"}
	return []Contract{
		{Name: "PreToolUse", Kind: KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true, Context: true,
			Decision: DecisionVerdict, Rewrite: RewriteInput, Target: "tool_input"},
		{Name: "PermissionRequest", Kind: KindPermissionRequest, When: "the user would be asked for permission",
			Fields:      fields(fields(claudeCommon, claudeCall...), Field{"permission_suggestions", Array, false, "rules that would allow it"}),
			ToolMatched: true, CanBlock: true, Decision: DecisionPermission, Rewrite: RewriteInput, Target: "tool_input"},
		{Name: "PermissionDenied", When: "auto mode denied a tool call", ToolMatched: true,
			Fields: fields(call, Field{"reason", String, false, "why"})},
		{Name: "PostToolUse", Kind: KindToolAfter, When: "a tool call succeeded",
			Fields:      fields(call, Field{"tool_response", Any, false, "the result"}, took),
			ToolMatched: true, CanBlock: true, Sequence: true, Context: true, Rewrite: RewriteResponse, Target: "tool_response"},
		{Name: "PostToolUseFailure", Kind: KindToolAfter, Failed: true, When: "a tool call failed",
			Fields:      fields(call, Field{"error", String, false, "what went wrong"}, Field{"is_interrupt", Boolean, false, "the user interrupted it"}, took),
			ToolMatched: true, Context: true},
		{Name: "PostToolBatch", When: "all tool calls of a batch have ended",
			Fields:   fields(claudeCommon, Field{"tool_calls", Array, false, "objects of tool_name, tool_input, tool_use_id, tool_response"}),
			CanBlock: true, Context: true},
	}
}

func claudeTurnRows() []Contract {
	return []Contract{
		{Name: "UserPromptSubmit", Kind: KindPromptSubmit, When: "the user submitted a prompt",
			Fields:   fields(claudeCommon, Field{"prompt", String, false, "its text"}),
			CanBlock: true, Context: true, PlainText: PlainContext},
		{Name: "UserPromptExpansion", Kind: KindPromptSubmit, When: "a slash command or MCP prompt is expanded", Fields: fields(claudeCommon,
			Field{"expansion_type", String, false, "slash_command or mcp_prompt"},
			Field{"command_name", String, false, "the command"},
			Field{"command_args", String, false, "its arguments"},
			Field{"command_source", String, false, "where it comes from"},
			Field{"prompt", String, false, "the text"},
		), CanBlock: true, Context: true, PlainText: PlainContext},
		{Name: "MessageDisplay", Streaming: true, When: "a piece of the answer is shown", Fields: fields(claudeCommon,
			Field{"turn_id", String, false, "the turn"},
			Field{"message_id", String, false, "the message"},
			Field{"index", Integer, false, "number of the piece"},
			Field{"final", Boolean, false, "it is the last piece"},
			Field{"delta", String, false, "its text"},
		)},
		{Name: "Stop", Kind: KindTurnStop, When: "the agent finished responding; a block keeps it working",
			Fields: fields(claudeCommon, claudeStop...), CanBlock: true, Context: true},
		{Name: "StopFailure", Kind: KindError, Also: KindTurnStop, When: "the turn ended with an API error", Fields: fields(claudeCommon,
			Field{"error", String, false, "rate_limit, overloaded, authentication_failed, …"},
			Field{"error_details", String, false, "more about it"},
			Field{"last_assistant_message", String, false, "the last text"},
		)},
		{Name: "SubagentStart", Kind: KindSubagentStart, When: "a subagent starts", Fields: claudeCommon, Context: true},
		{Name: "SubagentStop", Kind: KindSubagentStop, When: "a subagent finished; a block keeps it working",
			Fields:   fields(fields(claudeCommon, claudeStop...), Field{"agent_transcript_path", String, false, "file of its conversation"}),
			CanBlock: true, Context: true},
		{Name: "Notification", Kind: KindNotification, When: "a notification is shown", Fields: fields(claudeCommon,
			Field{"message", String, false, "its text"},
			Field{"title", String, false, "its title"},
			Field{"notification_type", String, false, "permission_prompt, idle_prompt, …"},
		)},
	}
}

func claudeSessionRows() []Contract {
	trigger := Field{"trigger", String, false, "manual or auto"}
	return []Contract{
		{Name: "SessionStart", Kind: KindSessionStart, When: "a session starts or resumes", Fields: fields(claudeCommon,
			Field{"source", String, false, "startup, resume, clear, compact or fork"},
			Field{"model", String, false, "the model"},
			Field{"session_title", String, false, "the title"},
		), Context: true, PlainText: PlainContext},
		{Name: "Setup", When: "the repository is initialised or maintained", Fields: fields(claudeCommon,
			Field{"trigger", String, false, "init or maintenance"}), Context: true},
		{Name: "SessionEnd", Kind: KindSessionEnd, When: "a session ends", Fields: fields(claudeCommon,
			Field{"reason", String, false, "clear, resume, logout, prompt_input_exit or other"})},
		{Name: "PreCompact", Kind: KindCompactBefore, When: "before the conversation is compacted", Fields: fields(claudeCommon,
			trigger, Field{"custom_instructions", String, true, "what the user asked to keep"}), CanBlock: true},
		{Name: "PostCompact", Kind: KindCompactAfter, When: "after the conversation was compacted", Fields: fields(claudeCommon,
			trigger, Field{"compact_summary", String, false, "the summary"})},
		{Name: "InstructionsLoaded", When: "an instruction file was loaded", Fields: fields(claudeCommon,
			Field{"file_path", String, false, "the file"},
			Field{"memory_type", String, false, "User, Project, Local or Managed"},
			Field{"load_reason", String, false, "session_start, nested_traversal, path_glob_match, include or compact"},
		)},
		{Name: "ConfigChange", When: "a settings file changed", Fields: fields(claudeCommon,
			Field{"source", String, false, "user_settings, project_settings, local_settings, policy_settings or skills"},
			Field{"file_path", String, false, "the file"}), CanBlock: true},
		{Name: "CwdChanged", When: "the current directory changed", Fields: fields(claudeCommon,
			Field{"old_cwd", String, false, "before"}, Field{"new_cwd", String, false, "after"})},
		{Name: "DirectoryAdded", When: "a directory was added to the session", Fields: fields(claudeCommon,
			Field{"directory", String, false, "the directory"},
			Field{"source", String, false, "slash_command or register_repo_root"})},
		{Name: "FileChanged", Kind: KindFileChanged, When: "a watched file changed", Fields: fields(claudeCommon,
			Field{"file_path", String, false, "the file"},
			Field{"event", String, false, "change, add or unlink"})},
	}
}

func claudeTeamRows() []Contract {
	task := fields(claudeCommon,
		Field{"task_id", String, false, "the task"},
		Field{"task_subject", String, false, "what it is about"},
		Field{"task_description", String, false, "more about it"},
		Field{"teammate_name", String, false, "who has it"},
		Field{"team_name", String, false, "the team"},
	)
	ask := fields(claudeCommon, Field{"mcp_server_name", String, false, "the server that asks"})
	return []Contract{
		{Name: "TaskCreated", When: "a task is created", Fields: task, CanBlock: true},
		{Name: "TaskCompleted", When: "a task is marked completed", Fields: task, CanBlock: true},
		{Name: "TeammateIdle", When: "a teammate is about to go idle", Fields: fields(claudeCommon,
			Field{"teammate_name", String, false, "who"}, Field{"team_name", String, false, "the team"}), CanBlock: true},
		{Name: "WorktreeCreate", When: "a worktree is to be made; the hook makes it", CanBlock: true,
			Fields: fields(claudeCommon, Field{"name", String, false, "its name"})},
		{Name: "WorktreeRemove", When: "a worktree is to be removed",
			Fields: fields(claudeCommon, Field{"worktree_path", String, false, "the worktree"})},
		{Name: "Elicitation", When: "an MCP server asks the user something", Fields: fields(ask,
			Field{"message", String, false, "the question"},
			Field{"mode", String, false, "form or url"},
			Field{"url", String, false, "where to answer"},
			Field{"elicitation_id", String, false, "the question's id"},
			Field{"requested_schema", Object, false, "shape of the answer"},
		), CanBlock: true},
		{Name: "ElicitationResult", When: "the user answered an MCP server", Fields: fields(ask,
			Field{"action", String, false, "accept, decline or cancel"},
			Field{"content", Any, true, "the answer"},
			Field{"mode", String, false, "form or url"},
			Field{"elicitation_id", String, false, "the question's id"},
		), CanBlock: true},
	}
}

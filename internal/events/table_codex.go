package events

// codexRows is OpenAI Codex's contract (reference/dialects.md A2).
func codexRows() []Contract {
	turn := fields(codexCommon,
		Field{"turn_id", String, false, "the turn"},
		Field{"permission_mode", String, false, "default, acceptEdits, plan, dontAsk or bypassPermissions"},
	)
	agent := fields(turn,
		Field{"agent_id", String, false, "the subagent"},
		Field{"agent_type", String, false, "its type"},
	)
	call := fields(turn,
		Field{"tool_name", String, false, "the tool"},
		Field{"tool_use_id", String, false, "the call"},
		Field{"tool_input", Object, false, "the call's arguments"},
	)
	stop := []Field{
		{"stop_hook_active", Boolean, false, "it already goes on because of a stop hook"},
		{"last_assistant_message", String, true, "the final text"},
	}
	compact := fields(codexCommon, Field{"turn_id", String, false, "the turn"}, Field{"trigger", String, false, "manual or auto"})
	return []Contract{
		{Name: "SessionStart", Kind: KindSessionStart, When: "a session starts or resumes", Fields: fields(codexCommon,
			Field{"permission_mode", String, false, "default, acceptEdits, plan, dontAsk or bypassPermissions"},
			Field{"source", String, false, "startup, resume, clear or compact"},
		), Context: true, PlainText: PlainContext, CanBlock: true},
		{Name: "SessionEnd", Kind: KindSessionEnd, When: "a session ends",
			Fields: fields(codexCommon, Field{"reason", String, false, "other"})},
		{Name: "UserPromptSubmit", Kind: KindPromptSubmit, When: "the user submitted a prompt",
			Fields:   fields(turn, Field{"prompt", String, false, "its text"}),
			CanBlock: true, Context: true, PlainText: PlainContext},
		{Name: "PreToolUse", Kind: KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true, Context: true,
			Decision: DecisionVerdict, Rewrite: RewriteInput, Target: "tool_input"},
		{Name: "PermissionRequest", Kind: KindPermissionRequest, When: "the user would be asked for permission", Fields: fields(turn,
			Field{"tool_name", String, false, "the tool"},
			Field{"tool_input", Object, false, "the call's arguments, with a description"},
		), ToolMatched: true, CanBlock: true, Decision: DecisionPermission},
		{Name: "PostToolUse", Kind: KindToolAfter, When: "a tool call ended; a block replaces the result",
			Fields:      fields(call, Field{"tool_response", Any, false, "the result"}),
			ToolMatched: true, CanBlock: true, Context: true},
		{Name: "SubagentStart", Kind: KindSubagentStart, When: "a subagent starts", Fields: agent,
			Context: true, PlainText: PlainContext},
		{Name: "SubagentStop", Kind: KindSubagentStop, When: "a subagent finished; a block keeps it working",
			Fields:   fields(fields(agent, stop...), Field{"agent_transcript_path", String, true, "file of its conversation"}),
			CanBlock: true},
		{Name: "Stop", Kind: KindTurnStop, When: "the agent finished responding; a block keeps it working",
			Fields: fields(turn, stop...), CanBlock: true},
		{Name: "PreCompact", Kind: KindCompactBefore, When: "before the conversation is compacted", Fields: compact, CanBlock: true},
		{Name: "PostCompact", Kind: KindCompactAfter, When: "after the conversation was compacted", Fields: compact, CanBlock: true},
		{Name: "Interrupt", Kind: KindTurnInterrupt, When: "the user interrupted the turn", Fields: turn},
	}
}

var codexCommon = []Field{
	{"session_id", String, false, "the session; a subagent has its parent's"},
	{"transcript_path", String, true, "file of the conversation"},
	{"cwd", String, false, "the current directory"},
	{"hook_event_name", String, false, "the event's name"},
	{"model", String, false, "the model"},
}

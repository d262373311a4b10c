package events

// kimiRows is Kimi Code's contract (reference/dialects.md A8).
// PermissionResult comes on top of PermissionRequest, so it has its own kind.
func kimiRows() []Contract {
	call := fields(kimiCommon,
		Field{"tool_name", String, false, "the tool"},
		Field{"tool_input", Object, false, "the call's arguments"},
		Field{"tool_call_id", String, false, "the call"},
	)
	agent := fields(kimiCommon, Field{"agent_name", String, false, "the subagent"})
	return []Contract{
		{Name: "SessionStart", Kind: KindSessionStart, When: "a session starts or resumes", Fields: fields(kimiCommon,
			Field{"source", String, false, "startup or resume"},
			Field{"model", String, false, "the model"},
			Field{"profile", String, false, "the profile"},
		)},
		{Name: "SessionEnd", Kind: KindSessionEnd, When: "a session ends", Fields: kimiCommon},
		{Name: "SessionHeartbeat", Streaming: true, When: "each minute of a session",
			Fields: fields(kimiCommon, Field{"uptime_ms", Number, false, "how long it has lasted, in milliseconds"})},
		{Name: "UserPromptSubmit", Kind: KindPromptSubmit, When: "the user submitted a prompt", Fields: fields(kimiCommon,
			Field{"prompt", Any, false, "its text, or a list of content parts"},
			Field{"is_steer", Boolean, false, "it steers a running turn"},
		), CanBlock: true, Context: true, PlainText: PlainContext},
		{Name: "UserPromptQueued", When: "a prompt was queued", Fields: kimiCommon},
		{Name: "TurnStarted", When: "a turn started", Fields: kimiCommon},
		{Name: "PreToolUse", Kind: KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Decision: DecisionVerdict},
		{Name: "PostToolUse", Kind: KindToolAfter, When: "a tool call succeeded", ToolMatched: true,
			Fields: fields(call, Field{"tool_output", String, false, "the result, at most 2,000 characters"})},
		{Name: "PostToolUseFailure", Kind: KindToolAfter, Failed: true, When: "a tool call failed", ToolMatched: true,
			Fields: fields(call, Field{"error", Any, false, "what went wrong"})},
		{Name: "PermissionRequest", Kind: KindPermissionRequest, When: "the user is asked for permission", ToolMatched: true, Fields: call},
		{Name: "PermissionResult", When: "the user answered a request for permission", ToolMatched: true, Fields: call},
		{Name: "Stop", Kind: KindTurnStop, When: "the agent finished; a block makes it go on once", CanBlock: true,
			Fields: fields(kimiCommon, Field{"stop_hook_active", Boolean, false, "it already goes on because of a stop hook"})},
		{Name: "StopFailure", Kind: KindError, Also: KindTurnStop, When: "the turn ended with an error", Fields: fields(kimiCommon,
			Field{"error_type", String, false, "what kind of error"},
			Field{"error_message", String, false, "what went wrong"},
		)},
		{Name: "Interrupt", Kind: KindTurnInterrupt, When: "the turn was interrupted",
			Fields: fields(kimiCommon, Field{"reason", String, false, "why"})},
		{Name: "SubagentStart", Kind: KindSubagentStart, When: "a subagent starts",
			Fields: fields(agent, Field{"prompt", String, false, "what it has to do"})},
		{Name: "SubagentStop", Kind: KindSubagentStop, When: "a subagent finished",
			Fields: fields(agent, Field{"response", String, false, "its result"})},
		{Name: "TaskStarted", When: "a background task started", Fields: kimiCommon},
		{Name: "PreCompact", Kind: KindCompactBefore, When: "before the conversation is compacted", Fields: kimiCommon},
		{Name: "PostCompact", Kind: KindCompactAfter, When: "after the conversation was compacted", Fields: kimiCommon},
		{Name: "Notification", Kind: KindNotification, When: "a notification is sent", Fields: fields(kimiCommon,
			Field{"sink", String, false, "where it goes"},
			Field{"notification_type", String, false, "its type"},
			Field{"title", String, false, "its title"},
			Field{"body", String, false, "its text"},
			Field{"severity", String, false, "how bad it is"},
		)},
	}
}

var kimiCommon = []Field{
	{"hook_event_name", String, false, "the event's name"},
	{"session_id", String, false, "the session"},
	{"session_title", String, false, "its title"},
	{"client_type", String, false, "the client"},
	{"cwd", String, false, "the current directory"},
}

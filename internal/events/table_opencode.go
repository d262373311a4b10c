package events

// openCodeRows is OpenCode's contract (reference/dialects.md A7), as hookd's
// plugin tells it (internal/bridge/shims): what a plugin is called with, input
// and output as one object. A plugin denies a call by throwing; it can change
// arguments, results and prompts, and ask nobody. The two subagent.* names are
// the plugin's own, for sessions that have a parent.
func openCodeRows() []Contract {
	call := fields(openCodeCommon,
		Field{"tool", String, false, "the tool"},
		Field{"callID", String, false, "id of the call"},
		Field{"args", Object, true, "the call's arguments"},
	)
	child := fields(openCodeCommon, Field{"parentID", String, true, "the session that started it"}, Field{"title", String, true, "its title"})
	failed := fields(openCodeCommon, Field{"error", Any, true, "what went wrong"})
	asked := fields(openCodeCommon, Field{"permission", Any, true, "what is asked for"})
	return []Contract{
		{Name: "session.created", Kind: KindSessionStart, When: "a session starts; told with its first prompt", Fields: child,
			Context: true, PlainText: PlainContext},
		{Name: "session.deleted", Kind: KindSessionEnd, When: "a session was deleted", Fields: openCodeCommon},
		{Name: "chat.message", Kind: KindPromptSubmit, When: "the user submitted a prompt",
			Fields:   fields(openCodeCommon, Field{"prompt", String, false, "the prompt"}, Field{"agent", String, true, "the agent"}, Field{"messageID", String, true, "the message"}),
			CanBlock: true, Context: true, PlainText: PlainContext},
		{Name: "tool.execute.before", Kind: KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true,
			Decision: DecisionVerdict, Rewrite: RewriteInput, Target: "args"},
		{Name: "tool.execute.after", Kind: KindToolAfter, When: "a tool call ended",
			Fields:      fields(call, Field{"title", String, true, "the call's title"}, Field{"output", String, false, "what the model sees"}, Field{"metadata", Any, true, "what the tool says besides"}),
			ToolMatched: true, CanBlock: true, Context: true},
		{Name: "session.idle", Kind: KindTurnStop, When: "the agent is done", Fields: openCodeCommon},
		{Name: "session.error", Kind: KindError, When: "a session failed", Fields: failed},
		{Name: "experimental.session.compacting", Kind: KindCompactBefore, When: "before the conversation is compacted", Fields: openCodeCommon, Context: true},
		{Name: "session.compacted", Kind: KindCompactAfter, When: "the conversation was compacted", Fields: openCodeCommon},
		{Name: "permission.asked", Kind: KindPermissionRequest, When: "a person is asked; hooks cannot answer", Fields: asked},
		{Name: "permission.replied", When: "a person has answered", Fields: openCodeCommon},
		{Name: "file.edited", Kind: KindFileChanged, When: "a file was written", Fields: fields(openCodeCommon, Field{"file", String, false, "the file"})},
		{Name: "command.executed", When: "a slash command ran", Fields: fields(openCodeCommon, Field{"name", String, false, "the command"}, Field{"arguments", String, true, "its arguments"})},
		{Name: "subagent.created", Kind: KindSubagentStart, When: "a session with a parent starts", Fields: child},
		{Name: "subagent.idle", Kind: KindSubagentStop, When: "a session with a parent is done", Fields: openCodeCommon},
	}
}

var openCodeCommon = []Field{
	{"sessionID", String, true, "the session"},
	{"cwd", String, false, "the directory that OpenCode was started in"},
}

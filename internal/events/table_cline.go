package events

// clineRows is Cline's contract (reference/dialects.md A14): cancel stops,
// contextModification adds. Each event's own object carries its name.
func clineRows() []Contract {
	with := func(name, doc string) []Field { return fields(clineCommon, Field{name, Object, false, doc}) }
	return []Contract{
		{Name: "TaskStart", Kind: KindSessionStart, When: "a task starts", Fields: with("taskStart", "taskMetadata"),
			CanBlock: true, Context: true},
		{Name: "TaskResume", Kind: KindSessionStart, When: "a task resumes", Fields: with("taskResume", "taskMetadata"),
			CanBlock: true, Context: true},
		{Name: "TaskCancel", Kind: KindSessionEnd, Also: KindTurnInterrupt, When: "a task was cancelled", Fields: with("taskCancel", "taskMetadata")},
		{Name: "TaskComplete", Kind: KindSessionEnd, Also: KindTurnStop, When: "a task is complete", Fields: with("taskComplete", "taskMetadata")},
		{Name: "UserPromptSubmit", Kind: KindPromptSubmit, When: "the user submitted a prompt", Fields: with("userPromptSubmit", "prompt, attachments"),
			CanBlock: true, Context: true},
		{Name: "PreToolUse", Kind: KindToolBefore, When: "before a tool call", Fields: with("preToolUse", "toolName, parameters"),
			ToolMatched: true, CanBlock: true, FailClosed: true, Context: true, Decision: DecisionVerdict},
		{Name: "PostToolUse", Kind: KindToolAfter, When: "a tool call ended",
			Fields:      with("postToolUse", "toolName, parameters, result, success, executionTimeMs"),
			ToolMatched: true, CanBlock: true, Context: true},
		{Name: "PreCompact", Kind: KindCompactBefore, When: "before the conversation is compacted",
			Fields: with("preCompact", "contextSize, messagesToCompact, compactionStrategy"), CanBlock: true},
		{Name: "Notification", Kind: KindNotification, When: "a notification is shown", Fields: clineCommon},
	}
}

var clineCommon = []Field{
	{"clineVersion", String, false, "version of Cline"},
	{"hookName", String, false, "the event's name"},
	{"timestamp", String, false, "milliseconds since 1970, as text"},
	{"taskId", String, false, "the session"},
	{"workspaceRoots", Array, false, "the open folders"},
	{"userId", String, false, "the user"},
}

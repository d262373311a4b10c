package cline

import "github.com/hookd/hookd/internal/events"

// Rows is Cline's contract: cancel stops, contextModification adds,
// overrideInput rewrites. Each event's own object carries its name. Hooks see
// and change a call in tool_input, which the bridge adds.
func Rows() []events.Contract {
	with := func(name, doc string) []events.Field { return events.Fields(common, events.Object.Field(name, doc)) }
	return []events.Contract{
		{Name: "TaskStart", Kind: events.KindSessionStart, When: "a task starts",
			Fields:   with("taskStart", "taskMetadata"),
			CanBlock: true, Context: true},
		{Name: "TaskResume", Kind: events.KindSessionStart, When: "a task resumes",
			Fields:   with("taskResume", "taskMetadata"),
			CanBlock: true, Context: true},
		{Name: "TaskCancel", Kind: events.KindSessionEnd, Also: events.KindTurnInterrupt, When: "a task was cancelled",
			Fields: with("taskCancel", "taskMetadata")},
		{Name: "TaskComplete", Kind: events.KindSessionEnd, Also: events.KindTurnStop, When: "a task is complete",
			Fields: with("taskComplete", "taskMetadata")},
		{Name: "UserPromptSubmit", Kind: events.KindPromptSubmit, When: "the user submitted a prompt",
			Fields:   with("userPromptSubmit", "prompt, attachments"),
			CanBlock: true, Context: true},
		{Name: "PreToolUse", Kind: events.KindToolBefore, When: "before a tool call",
			Fields: events.Fields(with("preToolUse", "toolName, parameters"),
				events.Any.Nullable("tool_input", "the call's arguments, by their canonical names"),
			),
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true, Context: true,
			Decision: events.DecisionVerdict, Rewrite: events.RewriteInput, Target: "tool_input"},
		{Name: "PostToolUse", Kind: events.KindToolAfter, When: "a tool call ended",
			Fields:      with("postToolUse", "toolName, parameters, result, success, executionTimeMs"),
			ToolMatched: true, CanBlock: true, Context: true},
		{Name: "PreCompact", Kind: events.KindCompactBefore, When: "before the conversation is compacted",
			Fields: with("preCompact", "contextSize, messagesToCompact, compactionStrategy"), CanBlock: true},
		{Name: "TaskError", Kind: events.KindError, Also: events.KindTurnStop, When: "a task ended with an error",
			Fields: events.Fields(common, events.Object.Nullable("error", "name, message, stack"))},
		{Name: "SessionShutdown", When: "a session ended",
			Fields: events.Fields(common, events.String.Nullable("reason", "why"))},
		{Name: "Notification", Kind: events.KindNotification, When: "a notification is shown", Fields: common},
	}
}

var common = []events.Field{
	events.String.Field("clineVersion", "version of Cline"),
	events.String.Field("hookName", "the event's name"),
	events.String.Field("timestamp", "milliseconds since 1970, as text"),
	events.String.Field("taskId", "the session"),
	events.Array.Field("workspaceRoots", "the open folders"),
	events.String.Field("userId", "the user"),
	events.String.Nullable("parent_agent_id", "the agent that started this one, a subagent"),
}

package copilot

import "github.com/hookd/hookd/internal/events"

// Rows is GitHub Copilot's contract in its camelCase form; its PascalCase form
// is Claude Code's. userPromptTransformed comes on top of userPromptSubmitted
// and preMcpToolCall on top of preToolUse, so they have kinds of their own.
func Rows() []events.Contract {
	call := events.Fields(common,
		events.String.Field("toolName", "the tool"),
		events.Any.Field("toolArgs", "the call's arguments: an object, or its JSON text"),
	)
	prompt := events.Fields(common, events.String.Field("prompt", "the user's text"))
	return []events.Contract{
		{Name: "sessionStart", Kind: events.KindSessionStart, When: "a session starts or resumes",
			Fields: events.Fields(common,
				events.String.Field("source", "startup, resume or new"),
				events.String.Field("initialPrompt", "the first prompt"),
			),
			Context: true},
		{Name: "sessionEnd", Kind: events.KindSessionEnd, When: "a session ends",
			Fields: events.Fields(common,
				events.String.Field("reason", "complete, error, abort, timeout or user_exit"),
			)},
		{Name: "userPromptSubmitted", Kind: events.KindPromptSubmit, When: "the user submitted a prompt",
			Fields: prompt},
		{Name: "userPromptTransformed", When: "a prompt was transformed", Fields: prompt},
		{Name: "preToolUse", Kind: events.KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true,
			Decision: events.DecisionVerdict, Rewrite: events.RewriteInput, Target: "toolArgs"},
		{Name: "preMcpToolCall", When: "before an MCP tool call", Fields: common},
		{Name: "permissionRequest", Kind: events.KindPermissionRequest, When: "the user would be asked for permission",
			Fields: call, ToolMatched: true, CanBlock: true, Decision: events.DecisionPermission},
		{Name: "postToolUse", Kind: events.KindToolAfter, When: "a tool call succeeded",
			Fields:      events.Fields(call, events.Object.Field("toolResult", "resultType, textResultForLlm")),
			ToolMatched: true, Sequence: true, Context: true, Rewrite: events.RewriteResponse, Target: "toolResult"},
		{Name: "postToolUseFailure", Kind: events.KindToolAfter, Failed: true, When: "a tool call failed",
			Fields:      events.Fields(call, events.Any.Field("error", "what went wrong")),
			ToolMatched: true, Context: true},
		{Name: "agentStop", Kind: events.KindTurnStop, When: "the agent finished; a denial keeps it working",
			Fields: events.Fields(common,
				events.String.Field("transcriptPath", "file of the conversation"),
				events.String.Field("stopReason", "end_turn"),
				events.Boolean.Field("stop_hook_active", "it already goes on because of a stop hook"),
			),
			CanBlock: true},
		{Name: "subagentStart", Kind: events.KindSubagentStart, When: "a subagent starts",
			Fields: events.Fields(common, events.String.Field("agentName", "the subagent")), Context: true},
		{Name: "subagentStop", Kind: events.KindSubagentStop, When: "a subagent finished; a denial keeps it working",
			Fields: events.Fields(common,
				events.String.Field("agentId", "the subagent"),
				events.String.Field("agentType", "its type"),
				events.String.Field("response", "its result"),
			),
			CanBlock: true},
		{Name: "errorOccurred", Kind: events.KindError, When: "something went wrong", Fields: events.Fields(common,
			events.Object.Field("error", "message, name, stack"),
			events.String.Field("errorContext", "model_call, tool_execution, system or user_input"),
			events.Boolean.Field("recoverable", "the agent can go on"),
		)},
		{Name: "preCompact", Kind: events.KindCompactBefore, When: "before the conversation is compacted",
			Fields: events.Fields(common,
				events.String.Field("trigger", "manual or auto"),
				events.String.Nullable("customInstructions", "what the user asked to keep"),
			)},
		{Name: "notification", Kind: events.KindNotification, When: "a notification is shown",
			Fields: events.Fields(common,
				events.String.Field("message", "its text"),
				events.String.Field("title", "its title"),
				events.String.Field("notification_type", "shell_completed, agent_idle, …"),
			),
			Context: true},
	}
}

var common = []events.Field{
	events.String.Field("sessionId", "the session"),
	events.Any.Field("timestamp", "milliseconds since 1970"),
	events.String.Field("cwd", "the current directory"),
}

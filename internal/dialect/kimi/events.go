package kimi

import "github.com/hookd/hookd/internal/events"

// Rows is Kimi Code's contract.
// PermissionResult comes on top of PermissionRequest, so it has its own kind.
func Rows() []events.Contract {
	call := events.Fields(common,
		events.String.Field("tool_name", "the tool"),
		events.Object.Field("tool_input", "the call's arguments"),
		events.String.Field("tool_call_id", "the call"),
	)
	agent := events.Fields(common, events.String.Field("agent_name", "the subagent"))
	return []events.Contract{
		{Name: "SessionStart", Kind: events.KindSessionStart, When: "a session starts or resumes", Fields: events.Fields(common,
			events.String.Field("source", "startup or resume"),
			events.String.Field("model", "the model"),
			events.String.Field("profile", "the profile"),
		)},
		{Name: "SessionEnd", Kind: events.KindSessionEnd, When: "a session ends", Fields: common},
		{Name: "SessionHeartbeat", Streaming: true, When: "each minute of a session",
			Fields: events.Fields(common, events.Number.Field("uptime_ms", "how long it has lasted, in milliseconds"))},
		{Name: "UserPromptSubmit", Kind: events.KindPromptSubmit, When: "the user submitted a prompt", Fields: events.Fields(common,
			events.Any.Field("prompt", "its text, or a list of content parts"),
			events.Boolean.Field("is_steer", "it steers a running turn"),
		), CanBlock: true, Context: true, PlainText: events.PlainContext},
		{Name: "UserPromptQueued", When: "a prompt was queued", Fields: common},
		{Name: "TurnStarted", When: "a turn started", Fields: common},
		{Name: "PreToolUse", Kind: events.KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Decision: events.DecisionVerdict},
		{Name: "PostToolUse", Kind: events.KindToolAfter, When: "a tool call succeeded", ToolMatched: true,
			Fields: events.Fields(call, events.String.Field("tool_output", "the result, at most 2,000 characters"))},
		{Name: "PostToolUseFailure", Kind: events.KindToolAfter, Failed: true, When: "a tool call failed", ToolMatched: true,
			Fields: events.Fields(call, events.Any.Field("error", "what went wrong"))},
		{Name: "PermissionRequest", Kind: events.KindPermissionRequest, When: "the user is asked for permission", ToolMatched: true, Fields: call},
		{Name: "PermissionResult", When: "the user answered a request for permission", ToolMatched: true, Fields: call},
		{Name: "Stop", Kind: events.KindTurnStop, When: "the agent finished; a block makes it go on once", CanBlock: true,
			Fields: events.Fields(common, events.Boolean.Field("stop_hook_active", "it already goes on because of a stop hook"))},
		{Name: "StopFailure", Kind: events.KindError, Also: events.KindTurnStop, When: "the turn ended with an error", Fields: events.Fields(common,
			events.String.Field("error_type", "what kind of error"),
			events.String.Field("error_message", "what went wrong"),
		)},
		{Name: "Interrupt", Kind: events.KindTurnInterrupt, When: "the turn was interrupted",
			Fields: events.Fields(common, events.String.Field("reason", "why"))},
		{Name: "SubagentStart", Kind: events.KindSubagentStart, When: "a subagent starts",
			Fields: events.Fields(agent, events.String.Field("prompt", "what it has to do"))},
		{Name: "SubagentStop", Kind: events.KindSubagentStop, When: "a subagent finished",
			Fields: events.Fields(agent, events.String.Field("response", "its result"))},
		{Name: "TaskStarted", When: "a background task started", Fields: common},
		{Name: "PreCompact", Kind: events.KindCompactBefore, When: "before the conversation is compacted", Fields: common},
		{Name: "PostCompact", Kind: events.KindCompactAfter, When: "after the conversation was compacted", Fields: common},
		{Name: "Notification", Kind: events.KindNotification, When: "a notification is sent", Fields: events.Fields(common,
			events.String.Field("sink", "where it goes"),
			events.String.Field("notification_type", "its type"),
			events.String.Field("title", "its title"),
			events.String.Field("body", "its text"),
			events.String.Field("severity", "how bad it is"),
		)},
	}
}

var common = []events.Field{
	events.String.Field("hook_event_name", "the event's name"),
	events.String.Field("session_id", "the session"),
	events.String.Field("session_title", "its title"),
	events.String.Field("client_type", "the client"),
	events.String.Field("cwd", "the current directory"),
}

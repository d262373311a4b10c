package grok

import "github.com/hookd/hookd/internal/events"

// Rows is Grok Build's contract.
func Rows() []events.Contract {
	call := events.Fields(common,
		events.String.Field("toolName", "the tool"),
		events.Object.Field("toolInput", "the call's arguments"),
	)
	tell := func(name string, kind events.Kind, when string) events.Contract {
		return events.Contract{Name: name, Kind: kind, When: when, Fields: common}
	}
	return []events.Contract{
		tell("SessionStart", events.KindSessionStart, "a session starts"),
		tell("SessionEnd", events.KindSessionEnd, "a session ends"),
		{Name: "UserPromptSubmit", Kind: events.KindPromptSubmit, When: "the user submitted a prompt",
			Fields: events.Fields(common, events.String.Field("prompt", "its text"))},
		{Name: "PreToolUse", Kind: events.KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Decision: events.DecisionVerdict},
		{Name: "PostToolUse", Kind: events.KindToolAfter, When: "a tool call succeeded", ToolMatched: true,
			Fields: events.Fields(call, events.Any.Field("toolResponse", "the result"))},
		{Name: "PostToolUseFailure", Kind: events.KindToolAfter, Failed: true, When: "a tool call failed",
			ToolMatched: true,
			Fields:      events.Fields(call, events.String.Field("error", "what went wrong"))},
		{Name: "PermissionDenied", When: "a tool call was denied", Judge: "its own rules",
			Fields: call, ToolMatched: true},
		tell("Stop", events.KindTurnStop, "the agent finished"),
		{Name: "StopFailure", Kind: events.KindError, Also: events.KindTurnStop, When: "the turn ended with an error",
			Fields: common},
		tell("StopCancelled", events.KindTurnInterrupt, "the turn was cancelled"),
		tell("Notification", events.KindNotification, "a notification is shown"),
		tell("SubagentStart", events.KindSubagentStart, "a subagent starts"),
		tell("SubagentStop", events.KindSubagentStop, "a subagent finished"),
		tell("PreCompact", events.KindCompactBefore, "before the conversation is compacted"),
		tell("PostCompact", events.KindCompactAfter, "after the conversation was compacted"),
	}
}

var common = []events.Field{
	events.String.Field("hookEventName", "the event's name, in small letters"),
	events.String.Field("sessionId", "the session"),
	events.String.Field("cwd", "the current directory"),
	events.String.Field("workspaceRoot", "the project's folder"),
	events.String.Field("timestamp", "RFC 3339"),
}

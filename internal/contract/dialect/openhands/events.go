package openhands

import "github.com/hookd/hookd/internal/events"

// Rows is OpenHands's contract, as its source says.
func Rows() []events.Contract {
	call := events.Fields(common,
		events.String.Field("tool_name", "the tool"),
		events.Object.Field("tool_input", "the call's arguments"),
	)
	return []events.Contract{
		{Name: "SessionStart", Kind: events.KindSessionStart, When: "a session starts", Fields: common},
		{Name: "SessionEnd", Kind: events.KindSessionEnd, When: "a session ends", Fields: common},
		{Name: "UserPromptSubmit", Kind: events.KindPromptSubmit, When: "the user submitted a prompt",
			Fields:   events.Fields(common, events.String.Field("message", "its text")),
			CanBlock: true, Context: true, PlainText: events.PlainContext},
		{Name: "PreToolUse", Kind: events.KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Decision: events.DecisionVerdict},
		{Name: "PostToolUse", Kind: events.KindToolAfter, When: "a tool call ended", ToolMatched: true,
			Fields: events.Fields(call, events.Any.Field("tool_response", "the result"))},
		{Name: "Stop", Kind: events.KindTurnStop, When: "the agent finished; a denial keeps it working", Fields: common,
			CanBlock: true},
	}
}

var common = []events.Field{
	events.String.Field("event_type", "the event's name"),
	events.String.Nullable("session_id", "the session"),
	events.String.Nullable("working_dir", "the current directory"),
	events.Object.Field("metadata", "more about it"),
}

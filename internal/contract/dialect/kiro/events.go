package kiro

import "github.com/hookd/hookd/internal/events"

// Rows is the contract of Kiro's command line.
func Rows() []events.Contract {
	call := events.Fields(common,
		events.String.Field("tool_name", "the tool"),
		events.Object.Field("tool_input", "the call's arguments"),
	)
	return []events.Contract{
		{Name: "agentSpawn", Kind: events.KindSessionStart, When: "an agent is started", Fields: common,
			Context: true, PlainText: events.PlainContext},
		{Name: "userPromptSubmit", Kind: events.KindPromptSubmit, When: "the user submitted a prompt",
			Fields:  events.Fields(common, events.String.Field("prompt", "its text")),
			Context: true, PlainText: events.PlainContext},
		{Name: "preToolUse", Kind: events.KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Decision: events.DecisionVerdict},
		{Name: "postToolUse", Kind: events.KindToolAfter, When: "a tool call ended", ToolMatched: true,
			Fields: events.Fields(call, events.Object.Field("tool_response", "success, result"))},
		{Name: "stop", Kind: events.KindTurnStop, When: "the agent finished; a denial keeps it working",
			Fields:   events.Fields(common, events.String.Field("assistant_response", "the final text")),
			CanBlock: true},
	}
}

var common = []events.Field{
	events.String.Field("hook_event_name", "the event's name"),
	events.String.Field("session_id", "the session"),
	events.String.Field("cwd", "the current directory"),
}

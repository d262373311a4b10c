package goose

import "github.com/hookd/hookd/internal/events"

// Rows is goose's contract. BeforeReadFile, BeforeShellExecution, AfterFileEdit and
// AfterShellExecution come on top of PreToolUse and PostToolUse and decide nothing, so
// they have kinds of their own.
func Rows() []events.Contract {
	call := events.Fields(common,
		events.String.Field("tool_name", "the tool"),
		events.Object.Field("tool_input", "the call's arguments"),
		events.String.Field("tool_call_id", "the call"),
		events.String.Field("working_dir", "the session's directory"),
	)
	about := func(name, when string) events.Contract {
		return events.Contract{Name: name, When: when, Fields: call, ToolMatched: true}
	}
	return []events.Contract{
		{Name: "SessionStart", Kind: events.KindSessionStart, When: "a session starts", Fields: common},
		{Name: "SessionEnd", Kind: events.KindSessionEnd, When: "a session ends", Fields: common},
		{Name: "UserPromptSubmit", Kind: events.KindPromptSubmit, When: "the user submitted a prompt",
			Fields: events.Fields(common, events.String.Field("message", "its text"))},
		{Name: "PreToolUse", Kind: events.KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Decision: events.DecisionVerdict},
		{Name: "PreToolUseResult", When: "it is decided whether a tool call runs", ToolMatched: true,
			Fields: events.Fields(call, events.String.Field("decision", "allow or deny"),
				events.String.Field("blocked_by", "the plugin that denied"), events.String.Field("reason", "why"))},
		{Name: "PostToolUse", Kind: events.KindToolAfter, When: "a tool call succeeded", ToolMatched: true,
			Fields: events.Fields(call, events.Any.Field("tool_output", "the result"))},
		{Name: "PostToolUseFailure", Kind: events.KindToolAfter, Failed: true, When: "a tool call failed", Fields: call,
			ToolMatched: true},
		{Name: "Stop", Kind: events.KindTurnStop, When: "the agent finished; a denial keeps it working",
			Fields:   events.Fields(common, events.String.Field("last_assistant_message", "the final text")),
			CanBlock: true},
		about("BeforeReadFile", "before a file is read"),
		about("AfterFileEdit", "a file was edited"),
		about("BeforeShellExecution", "before a shell command runs"),
		about("AfterShellExecution", "a shell command ran"),
	}
}

var common = []events.Field{
	events.String.Field("event", "the event's name"),
	events.String.Field("session_id", "the session"),
	events.String.Nullable("matcher_context", "what a matcher is tried on"),
}

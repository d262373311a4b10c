package gemini

import "github.com/hookd/hookd/internal/events"

// Rows is Gemini CLI's contract.
// BeforeToolSelection comes on top of BeforeModel, so it has its own kind.
func Rows() []events.Contract {
	call := events.Fields(common,
		events.String.Field("tool_name", "the tool"),
		events.Object.Field("tool_input", "the call's arguments"),
		events.Object.Field("mcp_context", "the MCP server, if it is an MCP tool"),
		events.String.Field("original_request_name", "the tool the model asked for"),
	)
	request := events.Fields(common, events.Object.Field("llm_request", "model, messages, config, toolConfig"))
	prompt := events.Fields(common, events.String.Field("prompt", "the user's text"))
	return []events.Contract{
		{Name: "SessionStart", Kind: events.KindSessionStart, When: "a session starts or resumes",
			Fields: events.Fields(common, events.String.Field("source", "startup, resume or clear")), Context: true},
		{Name: "SessionEnd", Kind: events.KindSessionEnd, When: "a session ends",
			Fields: events.Fields(common,
				events.String.Field("reason", "exit, clear, logout, prompt_input_exit or other"),
			)},
		{Name: "BeforeAgent", Kind: events.KindPromptSubmit, When: "the user submitted a prompt", Fields: prompt,
			CanBlock: true, Context: true},
		{Name: "AfterAgent", Kind: events.KindTurnStop, When: "the agent finished responding; a denial makes it try again",
			Fields: events.Fields(prompt,
				events.String.Field("prompt_response", "the final text"),
				events.Boolean.Field("stop_hook_active", "it already goes on because of a stop hook"),
			),
			CanBlock: true},
		{Name: "BeforeTool", Kind: events.KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true,
			Decision: events.DecisionVerdict, Rewrite: events.RewriteInput, Target: "tool_input"},
		{Name: "AfterTool", Kind: events.KindToolAfter, When: "a tool call ended; a denial replaces the result",
			Fields:      events.Fields(call, events.Object.Field("tool_response", "llmContent, returnDisplay, error")),
			ToolMatched: true, CanBlock: true, Context: true},
		{Name: "BeforeModel", Streaming: true, Kind: events.KindModelBefore, When: "before a model call",
			Fields: request, CanBlock: true},
		{Name: "BeforeToolSelection", Streaming: true, When: "before the model selects tools", Fields: request},
		{Name: "AfterModel", Streaming: true, Kind: events.KindModelAfter, When: "a chunk of the model's answer came",
			Fields: events.Fields(request, events.Object.Field("llm_response", "the chunk")), CanBlock: true},
		{Name: "PreCompress", Kind: events.KindCompactBefore, When: "before the conversation is compressed",
			Fields: events.Fields(common, events.String.Field("trigger", "auto or manual"))},
		{Name: "Notification", Kind: events.KindNotification, When: "a notification is shown",
			Fields: events.Fields(common,
				events.String.Field("notification_type", "ToolPermission"),
				events.String.Field("message", "its text"),
				events.Object.Field("details", "more about it"),
			)},
	}
}

var common = []events.Field{
	events.String.Field("session_id", "the session"),
	events.String.Field("transcript_path", "file of the conversation"),
	events.String.Field("cwd", "the current directory"),
	events.String.Field("hook_event_name", "the event's name"),
	events.String.Field("timestamp", "ISO 8601"),
}

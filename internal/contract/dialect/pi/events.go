package pi

import "github.com/hookd/hookd/internal/events"

// Rows is the contract of Pi's extensions, as hookd's extension tells it
// (internal/agents/bridge/shims): the arguments that a handler is called with, without the
// conversation.
func Rows() []events.Contract {
	call := events.Fields(common,
		events.String.Field("toolName", "the tool"),
		events.String.Field("toolCallId", "id of the call"),
		events.Object.Field("input", "the call's arguments"),
	)
	return []events.Contract{
		{Name: "session_start", Kind: events.KindSessionStart, When: "a session starts; told with its first prompt",
			Fields:  events.Fields(common, events.String.Nullable("reason", "startup, reload, new, resume or fork")),
			Context: true, PlainText: events.PlainContext},
		{Name: "session_shutdown", Kind: events.KindSessionEnd, When: "a session ends",
			Fields: events.Fields(common, events.String.Nullable("reason", "quit, reload, new, resume or fork"))},
		{Name: "input", Kind: events.KindPromptSubmit, When: "the user submitted a prompt",
			Fields: events.Fields(common,
				events.String.Field("text", "the prompt"),
				events.String.Nullable("source", "interactive, rpc or extension"),
			),
			CanBlock: true, Context: true, PlainText: events.PlainContext},
		{Name: "tool_call", Kind: events.KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true,
			Decision: events.DecisionVerdict, Rewrite: events.RewriteInput, Target: "input"},
		{Name: "tool_result", Kind: events.KindToolAfter, When: "a tool call ended",
			Fields: events.Fields(call,
				events.Array.Field("content", "what the model sees"),
				events.Boolean.Nullable("isError", "it failed"),
			),
			ToolMatched: true, CanBlock: true, Context: true},
		{Name: "turn_end", Also: events.KindTurnStep, When: "the model answered, and its tool calls have ended",
			Fields: events.Fields(common, events.Integer.Nullable("turnIndex", "number of the step"))},
		{Name: "agent_end", Also: events.KindTurnStop, When: "the agent is done",
			Fields: events.Fields(common,
				events.String.Field("answer", "the final text"),
				events.String.Field("status", "ok, error or aborted"),
				events.String.Nullable("error", "what went wrong"),
			)},
		{Name: "session_before_compact", Kind: events.KindCompactBefore, When: "before the conversation is compacted",
			Fields: events.Fields(common, events.String.Nullable("customInstructions",
				"what the user asked to keep")),
			CanBlock: true},
		{Name: "session_compact", Kind: events.KindCompactAfter, When: "the conversation was compacted",
			Fields: common},
	}
}

var common = []events.Field{
	events.String.Field("type", "the event's name"),
	events.String.Nullable("sessionId", "the session"),
	events.String.Nullable("cwd", "the current directory"),
}

package hermes

import "github.com/hookd/hookd/internal/events"

// Rows is Hermes's contract: its gateway's events, which observe, and the events of its
// shell and plugin hooks. An event that comes on top of another for the same moment has
// a kind of its own.
func Rows() []events.Contract {
	return append(gatewayRows(), shellRows()...)
}

func gatewayRows() []events.Contract {
	message := []events.Field{
		events.String.Field("platform", "where the message came from"),
		events.String.Field("user_id", "who sent it"),
		events.String.Field("chat_id", "the chat"),
		events.String.Nullable("thread_id", "the thread"),
		events.String.Field("chat_type", "the chat's type"),
		events.String.Field("session_id", "the session"),
		events.String.Field("message", "first 500 characters of the message"),
	}
	return []events.Contract{
		{Name: events.EventStartup, Kind: events.KindDaemonStart, When: "the gateway has started",
			Fields: []events.Field{events.Array.Field("platforms", "the platforms it serves")}},
		{Name: "session:start", Kind: events.KindSessionStart, When: "a session starts"},
		{Name: "session:end", Kind: events.KindSessionEnd, When: "a session ends"},
		{Name: "session:reset", Kind: events.KindSessionReset, When: "a session is reset"},
		{Name: "session:compress", When: "a session is compressed"},
		{Name: "agent:start", Kind: events.KindPromptSubmit, When: "the agent begins with a message", Fields: message},
		{Name: "agent:step", Kind: events.KindTurnStep, When: "each step of the agent", Fields: []events.Field{
			events.Integer.Field("iteration", "the step"),
			events.Array.Field("tool_names", "the tools it calls"),
		}},
		{Name: "agent:end", Kind: events.KindTurnStop, When: "the agent finished", Fields: events.Fields(message,
			events.String.Field("response", "first 500 characters of the response"),
			events.String.Field("model", "the model"),
			events.String.Field("provider", "its provider"),
		)},
		{Name: "reaction:added", When: "a user reacted to a message"},
		{Name: "reaction:removed", When: "a user removed a reaction"},
		{Name: "message:pre_route", When: "before a message is routed to a session"},
	}
}

func shellRows() []events.Contract {
	call := events.Fields(common,
		events.String.Nullable("tool_name", "the tool"),
		events.Object.Nullable("tool_input", "the call's arguments"),
	)
	return []events.Contract{
		{Name: "on_session_start", Kind: events.KindSessionStart, When: "a session starts", Fields: common},
		{Name: "on_session_end", Kind: events.KindSessionEnd, When: "a session ends", Fields: common},
		{Name: "on_session_reset", Kind: events.KindSessionReset, When: "a session is reset", Fields: common},
		{Name: "on_session_finalize", When: "a session is finalized", Fields: common},
		{Name: "pre_llm_call", Kind: events.KindPromptSubmit, When: "before the model sees a prompt",
			Fields: common, Context: true},
		{Name: "post_llm_call", When: "the model has answered a prompt", Fields: common},
		{Name: "pre_api_request", Kind: events.KindModelBefore, When: "before a model call", Fields: common},
		{Name: "post_api_request", Kind: events.KindModelAfter, When: "after a model call", Fields: common},
		{Name: "transform_llm_output", When: "before the model's text is used", Fields: common},
		{Name: "api_request_error", Kind: events.KindError, When: "a model call failed", Fields: common},
		{Name: "pre_tool_call", Kind: events.KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true,
			Decision: events.DecisionVerdict, Rewrite: events.RewriteInput, Target: "tool_input"},
		{Name: "post_tool_call", Kind: events.KindToolAfter, When: "a tool call ended",
			Fields: call, ToolMatched: true},
		{Name: "transform_tool_result", Kind: events.KindToolTransform, When: "a tool has returned, before its result is used",
			Fields: call, ToolMatched: true},
		{Name: "transform_terminal_output", When: "before a terminal's output is used",
			Fields: call, ToolMatched: true},
		{Name: "pre_verify", Kind: events.KindTurnStop, When: "before the agent ends its turn; a denial keeps it working",
			Fields: common, CanBlock: true},
		{Name: "subagent_start", Kind: events.KindSubagentStart, When: "a subagent starts", Fields: common},
		{Name: "subagent_stop", Kind: events.KindSubagentStop, When: "a subagent finished", Fields: common},
	}
}

var common = []events.Field{
	events.String.Field("hook_event_name", "the event's name"),
	events.String.Field("session_id", "the session"),
	events.String.Field("cwd", "the current directory"),
	events.String.Nullable("profile", "the profile"),
	events.Object.Nullable("extra", "what else the event carries"),
}

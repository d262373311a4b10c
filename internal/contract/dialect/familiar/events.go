package familiar

import "github.com/hookd/hookd/internal/events"

// Rows is Familiar's contract: the payload's fields are the template variables. The
// context that a captured stdout adds reaches the agent on every event, so every event
// can be decided; four can be stopped. A hook of an AGENT.md that fails does as its onFailure says, see
// hook.Hook.OnErrorAlone; any other guard's failure denies a tool call.
func Rows() []events.Contract {
	return []events.Contract{
		{Name: "onStart", Kind: events.KindSessionStart, When: "the agent begins a conversation",
			Fields: events.Fields(common,
				events.String.Field("trigger_type", "cli, trigger, api or subagent"),
				events.String.Nullable("trigger_name", "the trigger, if there is one"),
				events.Object.Nullable("parameters", "the values it was started with"),
				events.String.Nullable("parent_agent", "the parent of a subagent"),
			),
			CanBlock: true, Context: true},
		{Name: "onStop", Kind: events.KindTurnStop, When: "the agent is about to return", Fields: events.Fields(common,
			events.Integer.Field("duration_ms", "the conversation's duration in milliseconds"),
			events.Integer.Field("message_count", "messages exchanged"),
			events.Integer.Field("tool_call_count", "tool invocations"),
			events.Object.Field("token_usage", "input and output: tokens consumed and generated"),
			events.String.Field("exit_reason", "complete, error, timeout or user_cancel"),
			events.Array.Field("files_modified", "the modified files"),
			events.String.Nullable("hook_output", "output of the hooks before"),
		), CanBlock: true, Context: true},
		{Name: "beforeToolCall", Kind: events.KindToolBefore, When: "before any tool is invoked",
			Fields: events.Fields(common,
				events.String.Field("tool_name", "the tool being called"),
				events.Object.Field("tool_args", "its arguments"),
				events.Integer.Field("tool_call_index", "number of the call, from 1"),
			),
			ToolMatched: true, CanBlock: true, FailClosed: true, Context: true, Decision: events.DecisionVerdict},
		{Name: "afterToolCall", Kind: events.KindToolAfter, When: "after a tool completes",
			Fields: events.Fields(common,
				events.String.Field("tool_name", "the tool that was called"),
				events.Any.Nullable("tool_result", "its output"),
				events.String.Nullable("tool_error", "what went wrong, if it failed"),
				events.Boolean.Field("tool_success", "it succeeded"),
				events.Integer.Field("tool_duration_ms", "how long it ran, in milliseconds"),
			),
			ToolMatched: true, Context: true},
		{Name: "onError", Kind: events.KindError, When: "the agent encounters an error", Fields: events.Fields(common,
			events.String.Field("error_type", "tool_error, api_error, timeout or permission_denied"),
			events.String.Field("error_message", "for people"),
			events.String.Nullable("error_stack", "stack trace, if available"),
			events.String.Nullable("last_tool", "the last tool before the error"),
			events.Boolean.Field("recoverable", "the agent can go on"),
		), Context: true},
		{Name: "beforeMessage", Kind: events.KindModelBefore, When: "before sending to the model", Fields: common,
			CanBlock: true, Context: true},
		{Name: "afterMessage", Kind: events.KindModelAfter, When: "after receiving from the model", Fields: common,
			Context: true},
	}
}

var common = []events.Field{
	events.String.Field("agent_name", "the agent"),
	events.String.Field("agent_id", "its instance"),
	events.String.Field("conversation_id", "the conversation"),
	events.String.Field("workspace", "the working directory"),
	events.String.Field("timestamp", "ISO 8601"),
	events.String.Field("json_context", "all of the context as JSON"),
}

package events

// familiarRows is Familiar's contract (seed 001): the payload's fields are the
// template variables. What a captured stdout adds reaches the agent on every
// event, so all of them can be decided; four of them can be stopped. A failed
// hook is judged by its onFailure alone, so none is fail-closed.
func familiarRows() []Contract {
	return []Contract{
		{Name: "onStart", Kind: KindSessionStart, When: "the agent begins a conversation", Fields: fields(familiarCommon,
			Field{"trigger_type", String, false, "cli, trigger, api or subagent"},
			Field{"trigger_name", String, true, "the trigger, if there is one"},
			Field{"parameters", Object, true, "the values it was started with"},
			Field{"parent_agent", String, true, "the parent of a subagent"},
		), CanBlock: true, Context: true},
		{Name: "onStop", Kind: KindTurnStop, When: "the agent is about to return", Fields: fields(familiarCommon,
			Field{"duration_ms", Integer, false, "the conversation's duration in milliseconds"},
			Field{"message_count", Integer, false, "messages exchanged"},
			Field{"tool_call_count", Integer, false, "tool invocations"},
			Field{"token_usage", Object, false, "input and output: tokens consumed and generated"},
			Field{"exit_reason", String, false, "complete, error, timeout or user_cancel"},
			Field{"files_modified", Array, false, "the modified files"},
			Field{"hook_output", String, true, "output of the hooks before"},
		), CanBlock: true, Context: true},
		{Name: "beforeToolCall", Kind: KindToolBefore, When: "before any tool is invoked", Fields: fields(familiarCommon,
			Field{"tool_name", String, false, "the tool being called"},
			Field{"tool_args", Object, false, "its arguments"},
			Field{"tool_call_index", Integer, false, "number of the call, from 1"},
		), ToolMatched: true, CanBlock: true, Context: true, Decision: DecisionVerdict},
		{Name: "afterToolCall", Kind: KindToolAfter, When: "after a tool completes", Fields: fields(familiarCommon,
			Field{"tool_name", String, false, "the tool that was called"},
			Field{"tool_result", Any, true, "its output"},
			Field{"tool_error", String, true, "what went wrong, if it failed"},
			Field{"tool_success", Boolean, false, "it succeeded"},
			Field{"tool_duration_ms", Integer, false, "how long it ran, in milliseconds"},
		), ToolMatched: true, Context: true},
		{Name: "onError", Kind: KindError, When: "the agent encounters an error", Fields: fields(familiarCommon,
			Field{"error_type", String, false, "tool_error, api_error, timeout or permission_denied"},
			Field{"error_message", String, false, "for people"},
			Field{"error_stack", String, true, "stack trace, if available"},
			Field{"last_tool", String, true, "the last tool before the error"},
			Field{"recoverable", Boolean, false, "the agent can go on"},
		), Context: true},
		{Name: "beforeMessage", Kind: KindModelBefore, When: "before sending to the model", Fields: familiarCommon,
			CanBlock: true, Context: true},
		{Name: "afterMessage", Kind: KindModelAfter, When: "after receiving from the model", Fields: familiarCommon,
			Context: true},
	}
}

var familiarCommon = []Field{
	{"agent_name", String, false, "the agent"},
	{"agent_id", String, false, "its instance"},
	{"conversation_id", String, false, "the conversation"},
	{"workspace", String, false, "the working directory"},
	{"timestamp", String, false, "ISO 8601"},
	{"json_context", String, false, "all of the context as JSON"},
}

package events

// hermesRows is Hermes's contract (reference/dialects.md A10): its gateway's
// events, which observe, and those of its shell and plugin hooks. What comes
// on top of an event for the same moment has a kind of its own.
func hermesRows() []Contract {
	return append(hermesGatewayRows(), hermesShellRows()...)
}

func hermesGatewayRows() []Contract {
	message := []Field{
		{"platform", String, false, "where the message came from"},
		{"user_id", String, false, "who sent it"},
		{"chat_id", String, false, "the chat"},
		{"thread_id", String, true, "the thread"},
		{"chat_type", String, false, "the chat's type"},
		{"session_id", String, false, "the session"},
		{"message", String, false, "first 500 characters of the message"},
	}
	return []Contract{
		{Name: EventStartup, Kind: KindDaemonStart, When: "the gateway has started",
			Fields: []Field{{"platforms", Array, false, "the platforms it serves"}}},
		{Name: "session:start", Kind: KindSessionStart, When: "a session starts"},
		{Name: "session:end", Kind: KindSessionEnd, When: "a session ends"},
		{Name: "session:reset", Kind: KindSessionReset, When: "a session is reset"},
		{Name: "session:compress", When: "a session is compressed"},
		{Name: "agent:start", Kind: KindPromptSubmit, When: "the agent begins with a message", Fields: message},
		{Name: "agent:step", Kind: KindTurnStep, When: "each step of the agent", Fields: []Field{
			{"iteration", Integer, false, "the step"},
			{"tool_names", Array, false, "the tools it calls"},
		}},
		{Name: "agent:end", Kind: KindTurnStop, When: "the agent finished", Fields: fields(message,
			Field{"response", String, false, "first 500 characters of the response"},
			Field{"model", String, false, "the model"},
			Field{"provider", String, false, "its provider"},
		)},
		{Name: "reaction:added", When: "somebody reacted to a message"},
		{Name: "reaction:removed", When: "somebody took a reaction back"},
		{Name: "message:pre_route", When: "before a message is routed to a session"},
	}
}

func hermesShellRows() []Contract {
	call := fields(hermesCommon,
		Field{"tool_name", String, true, "the tool"},
		Field{"tool_input", Object, true, "the call's arguments"},
	)
	return []Contract{
		{Name: "on_session_start", Kind: KindSessionStart, When: "a session starts", Fields: hermesCommon},
		{Name: "on_session_end", Kind: KindSessionEnd, When: "a session ends", Fields: hermesCommon},
		{Name: "on_session_reset", Kind: KindSessionReset, When: "a session is reset", Fields: hermesCommon},
		{Name: "on_session_finalize", When: "a session is finalized", Fields: hermesCommon},
		{Name: "pre_llm_call", Kind: KindPromptSubmit, When: "before the model sees a prompt", Fields: hermesCommon, Context: true},
		{Name: "post_llm_call", When: "the model has answered a prompt", Fields: hermesCommon},
		{Name: "pre_api_request", Kind: KindModelBefore, When: "before a model call", Fields: hermesCommon},
		{Name: "post_api_request", Kind: KindModelAfter, When: "after a model call", Fields: hermesCommon},
		{Name: "transform_llm_output", When: "before the model's text is used", Fields: hermesCommon},
		{Name: "api_request_error", Kind: KindError, When: "a model call failed", Fields: hermesCommon},
		{Name: "pre_tool_call", Kind: KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true,
			Decision: DecisionVerdict, Rewrite: RewriteInput, Target: "tool_input"},
		{Name: "post_tool_call", Kind: KindToolAfter, When: "a tool call ended", Fields: call, ToolMatched: true},
		{Name: "transform_tool_result", Kind: KindToolTransform, When: "a tool has returned, before its result is used", Fields: call, ToolMatched: true},
		{Name: "transform_terminal_output", When: "before a terminal's output is used", Fields: call, ToolMatched: true},
		{Name: "pre_verify", Kind: KindTurnStop, When: "before the agent ends its turn; a block keeps it working", Fields: hermesCommon, CanBlock: true},
		{Name: "subagent_start", Kind: KindSubagentStart, When: "a subagent starts", Fields: hermesCommon},
		{Name: "subagent_stop", Kind: KindSubagentStop, When: "a subagent finished", Fields: hermesCommon},
	}
}

var hermesCommon = []Field{
	{"hook_event_name", String, false, "the event's name"},
	{"session_id", String, false, "the session"},
	{"cwd", String, false, "the current directory"},
	{"profile", String, true, "the profile"},
	{"extra", Object, true, "what else the event carries"},
}

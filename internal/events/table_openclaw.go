package events

// openClawRows is the contract of OpenClaw's plugin hooks, as hookd's plugin
// tells them (internal/bridge/shims; docs.openclaw.ai, "Plugin hooks"): the
// event's fields and the context's, without the conversation. Its results are
// rewritten before after_tool_call. The end of a run, also of a failed one,
// comes on top of before_agent_finalize, so it has a kind of its own.
func openClawRows() []Contract {
	call := fields(openClawCommon,
		Field{"toolName", String, false, "the tool"},
		Field{"params", Object, true, "the call's arguments"},
		Field{"toolCallId", String, true, "id of the call"},
	)
	child := fields(openClawCommon, Field{"childSessionKey", String, true, "the subagent's session"})
	return []Contract{
		{Name: "gateway_start", Kind: KindDaemonStart, When: "the Gateway has started", Fields: openClawCommon},
		{Name: "gateway_stop", When: "the Gateway stops", Fields: openClawCommon},
		{Name: "session_start", Kind: KindSessionStart, When: "a session starts; told with its first prompt", Fields: openClawCommon,
			Context: true, PlainText: PlainContext},
		{Name: "session_end", Kind: KindSessionEnd, When: "a session ended", Fields: fields(openClawCommon, Field{"reason", String, true, "why"})},
		{Name: "before_reset", Kind: KindSessionReset, When: "a session is reset", Fields: fields(openClawCommon, Field{"reason", String, true, "why"})},
		{Name: "before_prompt_build", Kind: KindPromptSubmit, When: "before the model sees a prompt",
			Fields: fields(openClawCommon, Field{"prompt", String, false, "the prompt"}), CanBlock: true, Context: true, PlainText: PlainContext},
		{Name: "before_tool_call", Kind: KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true,
			Decision: DecisionVerdict, Rewrite: RewriteInput, Target: "params"},
		{Name: "after_tool_call", Kind: KindToolAfter, When: "a tool call ended",
			Fields: fields(call, Field{"result", Any, true, "the result"}, Field{"error", String, true, "what went wrong"},
				Field{"durationMs", Number, true, "how long it took"}), ToolMatched: true, CanBlock: true, Context: true},
		{Name: "before_agent_finalize", Kind: KindTurnStop, When: "before the agent ends its turn; a block keeps it working", Fields: openClawCommon, CanBlock: true},
		{Name: "agent_end", When: "a run ended, well or not",
			Fields: fields(openClawCommon, Field{"success", Boolean, true, "whether it ended well"}, Field{"error", String, true, "what went wrong"}, Field{"durationMs", Number, true, "how long it took"})},
		{Name: "before_compaction", Kind: KindCompactBefore, When: "before the conversation is compacted", Fields: openClawCommon},
		{Name: "after_compaction", Kind: KindCompactAfter, When: "the conversation was compacted", Fields: openClawCommon},
		{Name: "subagent_spawned", Kind: KindSubagentStart, When: "a subagent starts", Fields: child},
		{Name: "subagent_ended", Kind: KindSubagentStop, When: "a subagent ended", Fields: child},
	}
}

var openClawCommon = []Field{
	{"sessionId", String, true, "the session"},
	{"sessionKey", String, true, "the conversation that the session belongs to"},
	{"agentId", String, true, "the agent's name"},
	{"runId", String, true, "the turn"},
	{"workspaceDir", String, true, "the agent's folder"},
}

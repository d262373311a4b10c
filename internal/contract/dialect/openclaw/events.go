package openclaw

import "github.com/hookd/hookd/internal/events"

// Rows is the contract of OpenClaw's plugin hooks, as hookd's plugin tells them
// (internal/agents/bridge/shims; docs.openclaw.ai, "Plugin hooks"): the event's fields
// and the context's, without the conversation. Its results are rewritten before
// after_tool_call. The end of a run, also of a failed one, comes on top of
// before_agent_finalize, so it has a kind of its own. Its before_compaction is
// docker-agent's by name, and a compact.before by meaning: hooks for either get it, and
// hooks on the name get nothing else.
func Rows() []events.Contract {
	call := events.Fields(common,
		events.String.Field("toolName", "the tool"),
		events.Object.Nullable("params", "the call's arguments"),
		events.String.Nullable("toolCallId", "id of the call"),
	)
	model := events.Fields(common,
		events.String.Nullable("callId", "the model's call"),
		events.String.Nullable("provider", "of the model"),
		events.String.Nullable("model", "the model"),
	)
	message := events.Fields(common,
		events.String.Nullable("channelId", "the channel"),
		events.String.Field("content", "its text"),
	)
	to := events.String.Nullable("to", "who gets it")
	child := events.Fields(common, events.String.Nullable("childSessionKey", "the subagent's session"))
	return []events.Contract{
		{Name: "gateway_start", Kind: events.KindDaemonStart, When: "the Gateway has started", Fields: common},
		{Name: "gateway_stop", When: "the Gateway stops", Fields: common},
		{Name: "session_start", Kind: events.KindSessionStart, When: "a session starts; told with its first prompt",
			Fields: common, Context: true, PlainText: events.PlainContext},
		{Name: "session_end", Kind: events.KindSessionEnd, When: "a session ended",
			Fields: events.Fields(common, events.String.Nullable("reason", "why"))},
		{Name: "before_reset", Kind: events.KindSessionReset, When: "a session is reset",
			Fields: events.Fields(common, events.String.Nullable("reason", "why"))},
		{Name: "before_prompt_build", Kind: events.KindPromptSubmit, When: "before the model sees a prompt",
			Fields:   events.Fields(common, events.String.Field("prompt", "the prompt")),
			CanBlock: true, Context: true, PlainText: events.PlainContext},
		{Name: "before_tool_call", Kind: events.KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true,
			Decision: events.DecisionVerdict, Rewrite: events.RewriteInput, Target: "params"},
		{Name: "after_tool_call", Kind: events.KindToolAfter, When: "a tool call ended",
			Fields: events.Fields(call,
				events.Any.Nullable("result", "the result"),
				events.String.Nullable("error", "what went wrong"),
				events.Number.Nullable("durationMs", "how long it took"),
			),
			ToolMatched: true, CanBlock: true, Context: true},
		{Name: "before_agent_finalize", Kind: events.KindTurnStop, When: "before the agent ends its turn; a denial keeps it working",
			Fields: common, CanBlock: true},
		{Name: "agent_end", When: "a run ended, well or not",
			Fields: events.Fields(common,
				events.Boolean.Nullable("success", "whether it ended well"),
				events.String.Nullable("error", "what went wrong"),
				events.Number.Nullable("durationMs", "how long it took"),
			)},
		{Name: "before_compaction", Also: events.KindCompactBefore, When: "before the conversation is compacted",
			Fields: common},
		{Name: "after_compaction", Kind: events.KindCompactAfter, When: "the conversation was compacted",
			Fields: common},
		{Name: "model_call_started", Kind: events.KindModelBefore, When: "before a call of the model, without the prompt",
			Fields: model},
		{Name: "model_call_ended", Kind: events.KindModelAfter, When: "a call of the model ended, without the answer",
			Fields: events.Fields(model,
				events.String.Nullable("outcome", "completed or error"),
				events.Number.Nullable("durationMs", "how long it took"),
			)},
		{Name: "message_received", When: "a message came in by a channel",
			Fields: events.Fields(message, events.String.Nullable("from", "its sender"))},
		{Name: "message_sending", When: "before a message goes out; a denial cancels it",
			Fields: events.Fields(message, to), CanBlock: true},
		{Name: "message_sent", When: "a message went out, or could not",
			Fields: events.Fields(message, to, events.Boolean.Nullable("success", "it went out"))},
		{Name: "subagent_spawned", Kind: events.KindSubagentStart, When: "a subagent starts", Fields: child},
		{Name: "subagent_ended", Kind: events.KindSubagentStop, When: "a subagent ended", Fields: child},
	}
}

var common = []events.Field{
	events.String.Nullable("sessionId", "the session"),
	events.String.Nullable("sessionKey", "the conversation that the session belongs to"),
	events.String.Nullable("agentId", "the agent's name"),
	events.String.Nullable("runId", "the turn"),
	events.String.Nullable("workspaceDir", "the agent's folder"),
}

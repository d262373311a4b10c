package librefang

import "github.com/hookd/hookd/internal/events"

// Rows is LibreFang's contract. Its events observe, but
// transform_tool_result: there the hooks run in registration order, the first
// replacement wins, and a failure is skipped.
func Rows() []events.Contract {
	session := events.String.Field("session_id", "session associated with this run")
	owner := []events.Field{
		events.String.Field("agent_id", "UUID of the owner agent"),
		events.String.Field("session_id", "the session"),
	}
	return []events.Contract{
		{Name: "agent:start", Kind: events.KindPromptSubmit, When: "the agent loop begins processing a new request",
			Fields: []events.Field{
				events.String.Field("agent_id", "UUID of the agent that started the run"),
				session,
				events.String.Field("sender", "who triggered the run"),
				events.String.Field("message_preview", "first 120 characters of the incoming message"),
			}},
		{Name: "agent:end", Kind: events.KindTurnStop, When: "the agent loop completes (success, error or max-steps)",
			Fields: []events.Field{
				events.String.Field("agent_id", "UUID of the agent that finished"),
				session,
				events.String.Field("status", "ok, error or max_steps"),
				events.Integer.Field("tokens_used", "tokens consumed, prompt and completion"),
				events.Integer.Field("steps", "reasoning steps taken"),
				events.Integer.Field("duration_ms", "wall-clock time of the run in milliseconds"),
				events.String.Field("response_preview", "first 120 characters of the final response"),
			}},
		{Name: "agent:step", Kind: events.KindTurnStep, When: "each intermediate reasoning step inside a run",
			Fields: []events.Field{
				events.String.Field("agent_id", "UUID of the agent taking the step"),
				session,
				events.Integer.Field("step_index", "step counter within the run, from 0"),
				events.String.Nullable("tool_call", "name of the tool being invoked, if any"),
			}},
		{Name: "session:start", Kind: events.KindSessionStart, Fields: owner,
			When: "a session is created, or resumed for the first time in a daemon lifetime"},
		{Name: "session:end", Kind: events.KindSessionEnd, Fields: owner, When: "a session is explicitly closed"},
		{Name: "session:reset", Kind: events.KindSessionReset, When: "a session is cleared by the auto-reset policy or by hand",
			Fields: events.Fields(owner,
				events.String.Field("reset_reason", "idle, daily, suspended or manual"),
				events.Integer.Field("message_count_cleared", "history messages removed"),
			)},
		{Name: events.EventStartup, Kind: events.KindDaemonStart, When: "the daemon finishes its boot sequence",
			Fields: []events.Field{
				events.String.Field("version", "version of the daemon"),
				events.String.Field("started_at", "UTC time of boot completion, ISO 8601"),
			}},
		{Name: "transform_tool_result", Kind: events.KindToolTransform, When: "a tool has returned, before its result enters the conversation",
			Fields: []events.Field{
				events.String.Field("agent_id", "agent that ran the tool"),
				events.String.Field("tool_name", "name of the executed tool"),
				events.Object.Field("tool_input", "the input that was passed to the tool"),
				events.String.Field("tool_output", "the raw stringified result"),
			},
			ToolMatched: true, Sequence: true, FirstWins: true, Rewrite: events.RewriteResponse,
			Target: "tool_output", PlainText: events.PlainReplaces},
	}
}

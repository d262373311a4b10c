package events

// EventStartup is LibreFang's daemon.start event, which hookd emits when its
// own boot is done.
const EventStartup = "gateway:startup"

// libreFangRows is LibreFang's contract (seed 000). Its events observe, but
// transform_tool_result: there the hooks run in registration order, the first
// replacement wins, and a failure is skipped.
func libreFangRows() []Contract {
	session := Field{"session_id", String, false, "session associated with this run"}
	owner := []Field{
		{"agent_id", String, false, "UUID of the owner agent"},
		{"session_id", String, false, "the session"},
	}
	return []Contract{
		{Name: "agent:start", Kind: KindPromptSubmit, When: "the agent loop begins processing a new request", Fields: []Field{
			{"agent_id", String, false, "UUID of the agent that started the run"},
			session,
			{"sender", String, false, "who triggered the run"},
			{"message_preview", String, false, "first 120 characters of the incoming message"},
		}},
		{Name: "agent:end", Kind: KindTurnStop, When: "the agent loop completes (success, error or max-steps)", Fields: []Field{
			{"agent_id", String, false, "UUID of the agent that finished"},
			session,
			{"status", String, false, "ok, error or max_steps"},
			{"tokens_used", Integer, false, "tokens consumed, prompt and completion"},
			{"steps", Integer, false, "reasoning steps taken"},
			{"duration_ms", Integer, false, "wall-clock time of the run in milliseconds"},
			{"response_preview", String, false, "first 120 characters of the final response"},
		}},
		{Name: "agent:step", Kind: KindTurnStep, When: "each intermediate reasoning step inside a run", Fields: []Field{
			{"agent_id", String, false, "UUID of the agent taking the step"},
			session,
			{"step_index", Integer, false, "step counter within the run, from 0"},
			{"tool_call", String, true, "name of the tool being invoked, if any"},
		}},
		{Name: "session:start", Kind: KindSessionStart, Fields: owner,
			When: "a session is created, or resumed for the first time in a daemon lifetime"},
		{Name: "session:end", Kind: KindSessionEnd, Fields: owner, When: "a session is explicitly closed"},
		{Name: "session:reset", Kind: KindSessionReset, When: "a session is cleared by the auto-reset policy or by hand", Fields: fields(owner,
			Field{"reset_reason", String, false, "idle, daily, suspended or manual"},
			Field{"message_count_cleared", Integer, false, "history messages removed"},
		)},
		{Name: EventStartup, Kind: KindDaemonStart, When: "the daemon finishes its boot sequence", Fields: []Field{
			{"version", String, false, "version of the daemon"},
			{"started_at", String, false, "UTC time of boot completion, ISO 8601"},
		}},
		{Name: "transform_tool_result", Kind: KindToolTransform, When: "a tool has returned, before its result enters the conversation",
			Fields: []Field{
				{"agent_id", String, false, "agent that ran the tool"},
				{"tool_name", String, false, "name of the executed tool"},
				{"tool_input", Object, false, "the input that was passed to the tool"},
				{"tool_output", String, false, "the raw stringified result"},
			},
			ToolMatched: true, Sequence: true, FirstWins: true,
			Rewrite: RewriteResponse, Target: "tool_output", PlainText: PlainReplaces},
	}
}

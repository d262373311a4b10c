package events

// dockerAgentRows is docker-agent's contract: seed 004 and its newest source,
// as reference/docker-agent.md 1.1 and 1.2 sum them up. By seed 004,
// post_tool_use and stop take context and plain text. All but the three common
// fields are absent from the wire when they are empty.
func dockerAgentRows() []Contract {
	rows := dockerToolRows()
	rows = append(rows, dockerTurnRows()...)
	rows = append(rows, dockerSessionRows()...)
	return append(rows, dockerGuardRows()...)
}

var dockerCommon = []Field{
	{"session_id", String, false, "the current session"},
	{"cwd", String, false, "the runtime's working directory"},
	{"hook_event_name", String, false, "the event's name"},
}

var (
	dockerAgentName    = Field{"agent_name", String, false, "the agent the event is about"}
	dockerToolName     = Field{"tool_name", String, false, "the tool"}
	dockerToolUseID    = Field{"tool_use_id", String, false, "the call"}
	dockerToolInput    = Field{"tool_input", Object, false, "the call's arguments"}
	dockerToolResponse = Field{"tool_response", Any, false, "the tool's result, in practice a string"}
	dockerToolError    = Field{"tool_error", Boolean, false, "the tool failed; its result says how"}
	dockerCategory     = Field{"tool_category", String, false, "the tool's category, e.g. shell"}
	dockerPolicy       = Field{"safety_policy", String, false, "strict, balanced, restricted, autonomous, or absent"}
	dockerPrompt       = Field{"prompt", String, false, "the user's text"}
	dockerAnswer       = Field{"stop_response", String, false, "the model's final text"}
	dockerLastMessage  = Field{"last_user_message", String, false, "the latest user message"}
)

func dockerToolRows() []Contract {
	call := fields(dockerCommon, dockerAgentName, dockerToolName, dockerToolUseID, dockerToolInput, dockerCategory, dockerPolicy)
	return []Contract{
		{Name: "pre_tool_use", Kind: KindToolBefore, When: "before a tool call executes", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true, Decision: DecisionVerdict,
			Rewrite: RewriteInput, Target: "tool_input"},
		{Name: "tool_input_transform", When: "before the guards and the approval see a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, Sequence: true,
			Rewrite: RewriteInput, Target: "tool_input"},
		{Name: "tool_guard", When: "after the input transforms; nothing overrides its verdict", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Decision: DecisionVerdict, Metadata: true},
		{Name: "permission_request", Kind: KindPermissionRequest, When: "just before the user would be asked to approve a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, Decision: DecisionPermission, Metadata: true,
			Rewrite: RewriteInput, Target: "tool_input"},
		{Name: "tool_response_transform", Kind: KindToolTransform, When: "a tool has returned, before its result is emitted or recorded",
			Fields:      fields(dockerCommon, dockerToolName, dockerToolUseID, dockerCategory, dockerToolInput, dockerToolResponse, dockerToolError),
			ToolMatched: true, Sequence: true, Rewrite: RewriteResponse, Target: "tool_response"},
		{Name: "post_tool_use", Kind: KindToolAfter, When: "after a tool completes, whether it failed or not",
			Fields:      fields(dockerCommon, dockerAgentName, dockerToolName, dockerToolUseID, dockerToolInput, dockerToolResponse, dockerToolError),
			ToolMatched: true, CanBlock: true, Context: true, PlainText: PlainContext},
		{Name: "on_tool_approval_decision", When: "the approval chain of a tool call has resolved",
			Fields: fields(dockerCommon, dockerToolName, dockerToolUseID, dockerToolInput,
				Field{"approval_decision", String, false, "allow, deny or canceled"},
				Field{"approval_source", String, false, "the step that decided, e.g. user_approved"},
				Field{"safety_label", String, false, "safe, destructive or unknown"},
			), ToolMatched: true},
	}
}

func dockerTurnRows() []Contract {
	notice := fields(dockerCommon,
		Field{"notification_level", String, false, "error or warning"},
		Field{"notification_message", String, false, "what happened"},
	)
	return []Contract{
		{Name: "user_prompt_submit", Kind: KindPromptSubmit, When: "once per user message, before the model runs", Fields: fields(dockerCommon, dockerPrompt),
			CanBlock: true, Context: true, PlainText: PlainContext},
		{Name: "user_steering_messages_submit", When: "each time queued steering messages are drained",
			Fields:   fields(dockerCommon, Field{"steering_messages", Array, false, "the messages, in submission order"}),
			CanBlock: true, Context: true, PlainText: PlainContext},
		{Name: "user_followup_submit", When: "each time a queued follow-up message starts a fresh turn", Fields: fields(dockerCommon, dockerPrompt),
			CanBlock: true, Context: true, PlainText: PlainContext},
		{Name: "turn_start", When: "at the start of every turn (each model call)", Fields: dockerCommon,
			Context: true, PlainText: PlainContext},
		{Name: "turn_end", When: "at the end of every turn, however it ended", Fields: fields(dockerCommon, dockerAgentName,
			Field{"reason", String, false, "normal, continue, steered, error, canceled, hook_blocked or loop_detected"})},
		{Name: "before_llm_call", Kind: KindModelBefore, When: "just before every model call", Fields: fields(dockerCommon,
			Field{"iteration", Integer, false, "the model call this hook gates, from 1"},
			Field{"model_id", String, false, "provider/model"},
			Field{"messages", Array, false, "the chat messages about to be sent"},
		), CanBlock: true, Sequence: true, Rewrite: RewriteMessages, Target: "messages"},
		{Name: "after_llm_call", Kind: KindModelAfter, When: "after every successful model call, before the response is recorded", Fields: fields(dockerCommon,
			dockerAgentName, dockerAnswer, dockerLastMessage,
			Field{"model_id", String, false, "provider/model, or the harness"},
			Field{"usage", Object, false, "input_tokens, output_tokens, cached_input_tokens, cached_write_tokens, reasoning_tokens"},
			Field{"cost", Number, false, "US dollars of this call; absent when unpriced"},
		)},
		{Name: "stop", Kind: KindTurnStop, When: "the model finishes responding", Fields: fields(dockerCommon, dockerAgentName, dockerAnswer, dockerLastMessage),
			Context: true, PlainText: PlainContext},
		{Name: "subagent_stop", Kind: KindSubagentStop, When: "a sub-agent finishes", Fields: fields(dockerCommon,
			Field{"agent_name", String, false, "the sub-agent"},
			Field{"parent_session_id", String, false, "the session that started it"},
			dockerAnswer,
		)},
		{Name: "notification", Kind: KindNotification, When: "the agent emits an error or a warning", Fields: notice},
		{Name: "on_error", Kind: KindError, When: "the runtime hits an error during a turn", Fields: notice},
		{Name: "on_max_iterations", When: "the configured max_iterations is reached", Fields: notice},
	}
}

func dockerSessionRows() []Contract {
	pressure := fields(dockerCommon,
		Field{"input_tokens", Integer, false, "tokens in"},
		Field{"output_tokens", Integer, false, "tokens out"},
		Field{"context_limit", Integer, false, "the model's limit; 0 or absent = unknown"},
		Field{"compaction_reason", String, false, "threshold, overflow or manual"},
	)
	return []Contract{
		{Name: "session_start", Kind: KindSessionStart, When: "a session begins or resumes",
			Fields:  fields(dockerCommon, Field{"source", String, false, "startup, resume, clear or compact"}),
			Context: true, PlainText: PlainContext},
		{Name: "session_end", Kind: KindSessionEnd, When: "a session terminates",
			Fields: fields(dockerCommon, Field{"reason", String, false, "stream_ended, clear, logout, prompt_input_exit or other"})},
		{Name: "pre_compact", Kind: KindCompactBefore, When: "just before the transcript is compacted, to steer it",
			Fields:   fields(dockerCommon, Field{"source", String, false, "manual, auto, overflow or tool_overflow"}),
			CanBlock: true, Context: true, PlainText: PlainContext},
		{Name: "before_compaction", When: "just before a compaction, to veto or replace it", Fields: pressure,
			CanBlock: true, Summary: true},
		{Name: "after_compaction", Kind: KindCompactAfter, When: "after a successful compaction",
			Fields: fields(pressure, Field{"summary", String, false, "the summary that was applied"})},
		{Name: "on_user_input", When: "the agent waits for user input", Fields: dockerCommon},
		{Name: "on_agent_switch", When: "the active agent changes", Fields: fields(dockerCommon,
			Field{"from_agent", String, false, "the agent before"},
			Field{"to_agent", String, false, "the agent after"},
			Field{"agent_switch_kind", String, false, "transfer_task, transfer_task_return, handoff or force_handoff"},
			Field{"from_agent_models", Array, false, "objects of provider, model, base_url, unload_api"},
		)},
		{Name: "on_session_resume", When: "the user approves going on past max_iterations", Fields: fields(dockerCommon,
			Field{"previous_max_iterations", Integer, false, "the limit that was reached"},
			Field{"new_max_iterations", Integer, false, "the new limit"},
		)},
		{Name: "worktree_create", When: "a git worktree was created, before its session", Fields: fields(dockerCommon,
			Field{"worktree_path", String, false, "the new worktree, also cwd"},
			Field{"worktree_branch", String, false, "its branch"},
			Field{"worktree_source_dir", String, false, "the repository it came from"},
		), CanBlock: true, Context: true, PlainText: PlainContext},
	}
}

func dockerGuardRows() []Contract {
	return []Contract{
		{Name: "skill_content_guard", When: "before a skill's text is loaded", Fields: fields(dockerCommon, dockerAgentName,
			Field{"skill", Object, false, "name, source (local, remote, inline), path, content"},
		), CanBlock: true, FailClosed: true, Explicit: true},
		{Name: "prompt_file_guard", When: "before a prompt file enters a turn", Fields: fields(dockerCommon, dockerAgentName,
			Field{"source", String, false, "loaded, stored or update"},
			Field{"prompt_file", Object, false, "path (optional), content"},
		), CanBlock: true, FailClosed: true, Explicit: true},
	}
}

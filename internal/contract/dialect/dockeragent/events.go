package dockeragent

import "github.com/hookd/hookd/internal/events"

// Rows is docker-agent's contract, as its newest source has it. Here
// post_tool_use and stop take context and plain text. All but the three common
// fields are absent from the wire when they are empty.
func Rows() []events.Contract {
	rows := toolRows()
	rows = append(rows, turnRows()...)
	rows = append(rows, sessionRows()...)
	rows = append(rows, guardRows()...)
	for i := range rows {
		rows[i].Decidable = true // it folds every answer: where nothing else counts, a system_message does
	}
	return rows
}

var common = []events.Field{
	events.String.Field("session_id", "the current session"),
	events.String.Field("cwd", "the runtime's working directory"),
	events.String.Field("hook_event_name", "the event's name"),
}

var (
	dockerAgentName    = events.String.Field("agent_name", "the agent the event is about")
	dockerToolName     = events.String.Field("tool_name", "the tool")
	dockerToolUseID    = events.String.Field("tool_use_id", "the call")
	dockerToolInput    = events.Object.Field("tool_input", "the call's arguments")
	dockerToolResponse = events.Any.Field("tool_response", "the tool's result, in practice a string")
	dockerToolError    = events.Boolean.Field("tool_error", "the tool failed; its result says how")
	dockerCategory     = events.String.Field("tool_category", "the tool's category, e.g. shell")
	dockerPolicy       = events.String.Field("safety_policy", "strict, balanced, restricted, autonomous, or absent")
	dockerPrompt       = events.String.Field("prompt", "the user's text")
	dockerAnswer       = events.String.Field("stop_response", "the model's final text")
	dockerLastMessage  = events.String.Field("last_user_message", "the latest user message")
)

func toolRows() []events.Contract {
	call := events.Fields(common,
		dockerAgentName, dockerToolName, dockerToolUseID, dockerToolInput, dockerCategory, dockerPolicy)
	return []events.Contract{
		{Name: "pre_tool_use", Kind: events.KindToolBefore, When: "before a tool call executes", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true, Decision: events.DecisionVerdict,
			Rewrite: events.RewriteInput, Target: "tool_input", OnlyReading: true},
		{Name: "tool_input_transform", When: "before the guards and the approval see a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, Sequence: true,
			Rewrite: events.RewriteInput, Target: "tool_input"},
		{Name: "tool_guard", When: "after the input transforms; nothing overrides its verdict", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Decision: events.DecisionVerdict, Metadata: true},
		{Name: "permission_request", Kind: events.KindPermissionRequest, When: "just before the user would be asked to approve a tool call",
			Fields: call, ToolMatched: true, CanBlock: true, Decision: events.DecisionPermission, Metadata: true,
			Rewrite: events.RewriteInput, Target: "tool_input"},
		{Name: "tool_response_transform", Kind: events.KindToolTransform, When: "a tool has returned, before its result is emitted or recorded",
			Fields: events.Fields(common,
				dockerToolName,
				dockerToolUseID,
				dockerCategory,
				dockerToolInput,
				dockerToolResponse,
				dockerToolError,
			),
			ToolMatched: true, Sequence: true,
			Rewrite: events.RewriteResponse, Target: "tool_response", TextOnly: true},
		{Name: "post_tool_use", Kind: events.KindToolAfter, When: "after a tool completes, whether it failed or not",
			Fields: events.Fields(common,
				dockerAgentName,
				dockerToolName,
				dockerToolUseID,
				dockerToolInput,
				dockerToolResponse,
				dockerToolError,
			),
			ToolMatched: true, CanBlock: true, Context: true, PlainText: events.PlainContext},
		{Name: "on_tool_approval_decision", When: "the approval chain of a tool call has resolved",
			Fields: events.Fields(common, dockerToolName, dockerToolUseID, dockerToolInput,
				events.String.Field("approval_decision", "allow, deny or canceled"),
				events.String.Field("approval_source", "the step that decided, e.g. user_approved"),
				events.String.Field("safety_label", "safe, destructive or unknown"),
			), ToolMatched: true},
	}
}

func turnRows() []events.Contract {
	notice := events.Fields(common,
		events.String.Field("notification_level", "error or warning"),
		events.String.Field("notification_message", "what happened"),
	)
	return []events.Contract{
		{Name: "user_prompt_submit", Kind: events.KindPromptSubmit, When: "once per user message, before the model runs",
			Fields:   events.Fields(common, dockerPrompt),
			CanBlock: true, Context: true, PlainText: events.PlainContext},
		{Name: "user_steering_messages_submit", When: "each time queued steering messages are drained",
			Fields: events.Fields(common,
				events.Array.Field("steering_messages", "the messages, in submission order"),
			),
			CanBlock: true, Context: true, PlainText: events.PlainContext},
		{Name: "user_followup_submit", When: "each time a queued follow-up message starts a fresh turn",
			Fields:   events.Fields(common, dockerPrompt),
			CanBlock: true, Context: true, PlainText: events.PlainContext},
		{Name: "turn_start", When: "at the start of every turn (each model call)", Fields: common,
			Context: true, PlainText: events.PlainContext},
		{Name: "turn_end", When: "at the end of every turn, however it ended",
			Fields: events.Fields(common,
				dockerAgentName,
				events.String.Field("reason", "normal, continue, steered, error, canceled, hook_blocked or loop_detected"),
			)},
		{Name: "before_llm_call", Kind: events.KindModelBefore, When: "just before every model call",
			Fields: events.Fields(common,
				events.Integer.Field("iteration", "the model call this hook gates, from 1"),
				events.String.Field("model_id", "provider/model"),
				events.Array.Field("messages", "the chat messages about to be sent"),
			),
			CanBlock: true, Sequence: true, Rewrite: events.RewriteMessages, Target: "messages"},
		{Name: "after_llm_call", Kind: events.KindModelAfter, When: "after every successful model call, before the response is recorded",
			Fields: events.Fields(common,
				dockerAgentName,
				dockerAnswer,
				dockerLastMessage,
				events.String.Field("model_id", "provider/model, or the harness"),
				events.Object.Field("usage", "input_tokens, output_tokens, cached_input_tokens, cached_write_tokens, reasoning_tokens"),
				events.Number.Field("cost", "US dollars of this call; absent when unpriced"),
			)},
		{Name: "stop", Kind: events.KindTurnStop, When: "the model finishes responding",
			Fields:  events.Fields(common, dockerAgentName, dockerAnswer, dockerLastMessage),
			Context: true, PlainText: events.PlainContext},
		{Name: "subagent_stop", Kind: events.KindSubagentStop, When: "a sub-agent finishes",
			Fields: events.Fields(common,
				events.String.Field("agent_name", "the sub-agent"),
				events.String.Field("parent_session_id", "the session that started it"),
				dockerAnswer,
			)},
		{Name: "notification", Kind: events.KindNotification, When: "the agent emits an error or a warning",
			Fields: notice},
		{Name: "on_error", Kind: events.KindError, When: "the runtime hits an error during a turn", Fields: notice},
		{Name: "on_max_iterations", When: "the configured max_iterations is reached", Fields: notice},
	}
}

func sessionRows() []events.Contract {
	pressure := events.Fields(common,
		events.Integer.Field("input_tokens", "tokens in"),
		events.Integer.Field("output_tokens", "tokens out"),
		events.Integer.Field("context_limit", "the model's limit; 0 or absent = unknown"),
		events.String.Field("compaction_reason", "threshold, overflow or manual"),
	)
	return []events.Contract{
		{Name: "session_start", Kind: events.KindSessionStart, When: "a session begins or resumes",
			Fields:  events.Fields(common, events.String.Field("source", "startup, resume, clear or compact")),
			Context: true, PlainText: events.PlainContext},
		{Name: "session_end", Kind: events.KindSessionEnd, When: "a session terminates",
			Fields: events.Fields(common,
				events.String.Field("reason", "stream_ended, clear, logout, prompt_input_exit or other"),
			)},
		{Name: "pre_compact", Kind: events.KindCompactBefore, When: "just before the transcript is compacted, to steer it",
			Fields: events.Fields(common,
				events.String.Field("source", "manual, auto, overflow or tool_overflow"),
			),
			CanBlock: true, Context: true, PlainText: events.PlainContext},
		{Name: "before_compaction", When: "just before a compaction, to veto or replace it", Fields: pressure,
			CanBlock: true, Summary: true},
		{Name: "after_compaction", Kind: events.KindCompactAfter, When: "after a successful compaction",
			Fields: events.Fields(pressure, events.String.Field("summary", "the summary that was applied"))},
		{Name: "on_user_input", When: "the agent waits for user input", Fields: common},
		{Name: "on_agent_switch", When: "the active agent changes", Fields: events.Fields(common,
			events.String.Field("from_agent", "the agent before"),
			events.String.Field("to_agent", "the agent after"),
			events.String.Field("agent_switch_kind", "transfer_task, transfer_task_return, handoff or force_handoff"),
			events.Array.Field("from_agent_models", "objects of provider, model, base_url, unload_api"),
		)},
		{Name: "on_session_resume", When: "the user approves going on past max_iterations",
			Fields: events.Fields(common,
				events.Integer.Field("previous_max_iterations", "the limit that was reached"),
				events.Integer.Field("new_max_iterations", "the new limit"),
			)},
		{Name: "worktree_create", When: "a git worktree was created, before its session", Fields: events.Fields(common,
			events.String.Field("worktree_path", "the new worktree, also cwd"),
			events.String.Field("worktree_branch", "its branch"),
			events.String.Field("worktree_source_dir", "the repository it came from"),
		), CanBlock: true, Context: true, PlainText: events.PlainContext},
	}
}

func guardRows() []events.Contract {
	return []events.Contract{
		{Name: "skill_content_guard", When: "before a skill's text is loaded",
			Fields: events.Fields(common,
				dockerAgentName,
				events.Object.Field("skill", "name, source (local, remote, inline), path, content"),
			),
			CanBlock: true, FailClosed: true, Explicit: true},
		{Name: "prompt_file_guard", When: "before a prompt file enters a turn",
			Fields: events.Fields(common,
				dockerAgentName,
				events.String.Field("source", "loaded, stored or update"),
				events.Object.Field("prompt_file", "path (optional), content"),
			),
			CanBlock: true, FailClosed: true, Explicit: true},
	}
}

package cursor

import "github.com/hookd/hookd/internal/events"

// Rows is Cursor's contract. A failed guard
// denies here whatever Cursor's own failClosed says, as on every tool.before.
func Rows() []events.Contract {
	rows := toolRows()
	rows = append(rows, fileRows()...)
	return append(rows, turnRows()...)
}

var common = []events.Field{
	events.String.Field("conversation_id", "the conversation"),
	events.String.Field("generation_id", "the turn"),
	events.String.Field("model", "the model"),
	events.String.Field("model_id", "the model without its parameters"),
	events.Array.Field("model_params", "objects of id and value"),
	events.String.Field("hook_event_name", "the event's name"),
	events.String.Field("cursor_version", "version of Cursor"),
	events.Array.Field("workspace_roots", "the open folders"),
	events.String.Nullable("user_email", "the user"),
	events.String.Nullable("transcript_path", "file of the conversation"),
}

var took = events.Number.Field("duration", "how long it ran, in milliseconds")

func toolRows() []events.Contract {
	call := events.Fields(common,
		events.String.Field("tool_name", "the tool"),
		events.Object.Field("tool_input", "the call's arguments"),
		events.String.Field("tool_use_id", "the call"),
		events.String.Field("cwd", "the current directory"),
	)
	shell := events.Fields(common,
		events.String.Field("command", "the command line"),
		events.String.Field("cwd", "where it runs"),
		events.Boolean.Field("sandbox", "it runs in the sandbox"),
	)
	mcp := events.Fields(common,
		events.String.Field("tool_name", "the tool"),
		events.String.Field("tool_input", "the call's arguments as JSON text"),
	)
	return []events.Contract{
		{Name: "preToolUse", Kind: events.KindToolBefore, When: "before a tool call",
			Fields:      events.Fields(call, events.String.Field("agent_message", "what the agent says about it")),
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true,
			Decision: events.DecisionVerdict, Rewrite: events.RewriteInput, Target: "tool_input"},
		{Name: "beforeShellExecution", Kind: events.KindToolBefore, Tools: "Bash", When: "before a shell command",
			Fields: shell, CanBlock: true, FailClosed: true, Decision: events.DecisionVerdict},
		{Name: "beforeMCPExecution", Kind: events.KindToolBefore, Tools: "mcp__*", When: "before an MCP tool call",
			Fields: events.Fields(mcp,
				events.String.Field("mcp_server_name", "the server"),
				events.String.Field("url", "its address"),
				events.String.Field("mcp_server_url", "its address"),
				events.String.Field("command", "its command line"),
			),
			ToolMatched: true, CanBlock: true, FailClosed: true, Decision: events.DecisionVerdict},
		{Name: "postToolUse", Kind: events.KindToolAfter, When: "a tool call succeeded",
			Fields:      events.Fields(call, events.String.Field("tool_output", "the result as JSON text"), took),
			ToolMatched: true, Sequence: true, Context: true, Rewrite: events.RewriteResponse, Target: "tool_output"},
		{Name: "postToolUseFailure", Kind: events.KindToolAfter, Failed: true, When: "a tool call failed",
			Fields: events.Fields(call,
				events.String.Field("error_message", "what went wrong"),
				events.String.Field("failure_type", "timeout, error or permission_denied"),
				took,
				events.Boolean.Field("is_interrupt", "the user interrupted it"),
			),
			ToolMatched: true},
		{Name: "afterShellExecution", Kind: events.KindToolAfter, Tools: "Bash", When: "a shell command ended",
			Fields: events.Fields(shell, events.String.Field("output", "what it printed"), took)},
		{Name: "afterMCPExecution", Kind: events.KindToolAfter, Tools: "mcp__*", When: "an MCP tool call ended",
			Fields:      events.Fields(mcp, events.String.Field("result_json", "the result as JSON text"), took),
			ToolMatched: true},
	}
}

func fileRows() []events.Contract {
	file := events.Fields(common, events.String.Field("file_path", "the file"))
	content := events.Fields(file, events.String.Field("content", "its text"))
	edits := events.Fields(file, events.Array.Field("edits", "objects of old_string and new_string"))
	return []events.Contract{
		{Name: "beforeReadFile", Kind: events.KindToolBefore, Tools: "Read", When: "before the agent reads a file",
			Fields:   events.Fields(content, events.Array.Field("attachments", "objects of type and file_path")),
			CanBlock: true, FailClosed: true, Decision: events.DecisionVerdict},
		{Name: "beforeTabFileRead", Kind: events.KindToolBefore, Tools: "Read", When: "before Tab reads a file",
			Fields: content, CanBlock: true, FailClosed: true, Decision: events.DecisionVerdict},
		{Name: "afterFileEdit", Kind: events.KindToolAfter, Tools: "Edit Write", Also: events.KindFileChanged,
			When:   "the agent edited a file",
			Fields: edits},
		{Name: "afterTabFileEdit", Kind: events.KindToolAfter, Tools: "Edit Write", When: "Tab edited a file",
			Fields: edits},
	}
}

func turnRows() []events.Contract {
	text := events.Fields(common, events.String.Field("text", "what the model said"))
	session := events.Fields(common,
		events.String.Field("session_id", "the session"),
		events.Boolean.Field("is_background_agent", "it runs in the background"),
	)
	subagent := events.Fields(common,
		events.String.Field("subagent_type", "its type"),
		events.String.Field("task", "what it has to do"),
	)
	return []events.Contract{
		{Name: "sessionStart", Kind: events.KindSessionStart, When: "a conversation starts",
			Fields: events.Fields(session, events.String.Field("composer_mode", "agent, ask or edit")), Context: true},
		{Name: "sessionEnd", Kind: events.KindSessionEnd, When: "a conversation ends", Fields: events.Fields(session,
			events.String.Field("reason", "completed, aborted, error, window_close or user_close"),
			events.Number.Field("duration_ms", "how long it lasted, in milliseconds"),
			events.String.Field("final_status", "how it ended"),
			events.String.Field("error_message", "what went wrong"),
		)},
		{Name: "beforeSubmitPrompt", Kind: events.KindPromptSubmit, When: "the user submits a prompt",
			Fields: events.Fields(common,
				events.String.Field("prompt", "its text"),
				events.Array.Field("attachments", "objects of type and file_path"),
			),
			CanBlock: true},
		{Name: "stop", Kind: events.KindTurnStop, When: "the agent finished; a denial keeps it working",
			Fields: events.Fields(common,
				events.String.Field("status", "completed, aborted or error"),
				events.Integer.Field("loop_count", "times a stop hook made it go on"),
			),
			CanBlock: true},
		{Name: "afterAgentResponse", Kind: events.KindModelAfter, When: "the model answered", Fields: text},
		{Name: "afterAgentThought", Kind: events.KindModelAfter, When: "the model thought",
			Fields: events.Fields(text, events.Number.Field("duration_ms", "how long, in milliseconds"))},
		{Name: "subagentStart", Kind: events.KindSubagentStart, When: "a subagent is to start",
			Fields: events.Fields(subagent,
				events.String.Field("subagent_id", "the subagent"),
				events.String.Field("parent_conversation_id", "the conversation that starts it"),
				events.String.Field("tool_call_id", "the call that starts it"),
				events.String.Field("subagent_model", "its model"),
				events.Boolean.Field("is_parallel_worker", "it runs beside others"),
				events.String.Field("git_branch", "its branch"),
			),
			CanBlock: true, Decision: events.DecisionVerdict},
		{Name: "subagentStop", Kind: events.KindSubagentStop, When: "a subagent finished; a denial keeps it working",
			Fields: events.Fields(subagent,
				events.String.Field("status", "completed, error or aborted"),
				events.String.Field("description", "its task in short"),
				events.String.Field("summary", "its result"),
				events.Number.Field("duration_ms", "how long it ran, in milliseconds"),
				events.Integer.Field("message_count", "messages exchanged"),
				events.Integer.Field("tool_call_count", "tool calls"),
				events.Integer.Field("loop_count", "times a stop hook made it go on"),
				events.Array.Field("modified_files", "the files it changed"),
				events.String.Nullable("agent_transcript_path", "file of its conversation"),
			),
			CanBlock: true},
		{Name: "preCompact", Kind: events.KindCompactBefore, When: "before the conversation is compacted",
			Fields: events.Fields(common,
				events.String.Field("trigger", "auto or manual"),
				events.Number.Field("context_usage_percent", "how full the context is"),
				events.Integer.Field("context_tokens", "tokens in the context"),
				events.Integer.Field("context_window_size", "the model's limit"),
				events.Integer.Field("message_count", "messages"),
				events.Integer.Field("messages_to_compact", "messages that go"),
				events.Boolean.Field("is_first_compaction", "the first of the conversation"),
			)},
		{Name: "workspaceOpen", When: "a workspace was opened", Fields: []events.Field{
			events.String.Field("hook_event_name", "the event's name"),
			events.String.Field("cursor_version", "version of Cursor"),
			events.Array.Field("workspace_roots", "the open folders"),
			events.String.Nullable("user_email", "the user"),
		}},
	}
}

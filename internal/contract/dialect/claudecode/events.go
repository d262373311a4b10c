package claudecode

import (
	"slices"

	"github.com/hookd/hookd/internal/events"
)

// Rows is Claude Code's contract. Names
// that it sends in addition to the shared one for the same moment
// (Setup, PermissionDenied, PostToolBatch) keep a kind of their own, so that
// no hook of another dialect runs twice for one thing.
func Rows() []events.Contract {
	return slices.Concat(toolRows(), turnRows(), sessionRows(), modelRows(), teamRows())
}

var common = []events.Field{
	events.String.Field("session_id", "the session"),
	events.String.Field("prompt_id", "the prompt"),
	events.String.Field("transcript_path", "file of the conversation"),
	events.String.Field("cwd", "the current directory"),
	events.String.Field("permission_mode", "default, plan, acceptEdits, auto, dontAsk or bypassPermissions"),
	events.Object.Field("effort", "level"),
	events.String.Field("hook_event_name", "the event's name"),
	events.String.Field("agent_id", "inside subagents"),
	events.String.Field("agent_type", "inside subagents"),
}

var toolCall = []events.Field{
	events.String.Field("tool_name", "the tool"),
	events.Object.Field("tool_input", "the call's arguments"),
}

var stopped = []events.Field{
	events.Boolean.Field("stop_hook_active", "it already goes on because of a stop hook"),
	events.String.Field("last_assistant_message", "the final text"),
	events.Array.Field("background_tasks", "tasks still running"),
	events.Array.Field("session_crons", "scheduled prompts"),
}

func toolRows() []events.Contract {
	call := events.Fields(events.Fields(common, toolCall...), events.String.Field("tool_use_id", "the call"))
	took := events.Number.Field("duration_ms", "how long the tool ran, in milliseconds")
	return []events.Contract{
		{Name: "PreToolUse", Kind: events.KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true, Context: true,
			Decision: events.DecisionVerdict, Rewrite: events.RewriteInput, Target: "tool_input",
			Takes: []events.Field{events.TakesDefer}},
		{Name: "PreSkillShellCommand", Kind: events.KindToolBefore, When: "before a skill's or command's own shell line runs",
			Fields: events.Fields(call,
				events.String.Field("command_name", "the skill or command"),
				events.String.Field("command_source", "where it comes from"),
				events.String.Field("invoked_by", "user, claude or other"),
			),
			ToolMatched: true, CanBlock: true, FailClosed: true, Decision: events.DecisionVerdict},
		{Name: "PermissionRequest", Kind: events.KindPermissionRequest, When: "the user would be asked for permission",
			Fields: events.Fields(events.Fields(common, toolCall...),
				events.Array.Field("permission_suggestions", "rules that would allow it"),
			),
			ToolMatched: true, CanBlock: true, Decision: events.DecisionPermission, Rewrite: events.RewriteInput,
			Target: "tool_input"},
		{Name: "PermissionDenied", When: "auto mode denied a tool call", Judge: "auto mode", ToolMatched: true,
			Fields: events.Fields(call, events.String.Field("reason", "why")),
			Takes:  []events.Field{events.TakesRetry}},
		{Name: "PostToolUse", Kind: events.KindToolAfter, When: "a tool call succeeded",
			Fields:      events.Fields(call, events.Any.Field("tool_response", "the result"), took),
			Takes:       []events.Field{events.TakesClassifierContext},
			ToolMatched: true, CanBlock: true, Sequence: true, Context: true, Rewrite: events.RewriteResponse,
			Target: "tool_response"},
		{Name: "PostToolUseFailure", Kind: events.KindToolAfter, Failed: true, When: "a tool call failed",
			Fields: events.Fields(call,
				events.String.Field("error", "what went wrong"),
				events.Boolean.Field("is_interrupt", "the user interrupted it"),
				took,
			),
			ToolMatched: true, Context: true},
		{Name: "PostToolBatch", When: "all tool calls of a batch have ended",
			Fields: events.Fields(common,
				events.Array.Field("tool_calls", "objects of tool_name, tool_input, tool_use_id, tool_response"),
			),
			CanBlock: true, Context: true},
	}
}

func turnRows() []events.Contract {
	return []events.Contract{
		{Name: "UserPromptSubmit", Kind: events.KindPromptSubmit, When: "the user submitted a prompt",
			Fields:   events.Fields(common, events.String.Field("prompt", "its text")),
			CanBlock: true, Context: true, PlainText: events.PlainContext,
			Takes: []events.Field{events.TakesTitle, events.TakesSuppressPrompt}},
		{Name: "UserPromptExpansion", Kind: events.KindPromptSubmit, When: "a slash command or MCP prompt is expanded",
			Fields: events.Fields(common,
				events.String.Field("expansion_type", "slash_command or mcp_prompt"),
				events.String.Field("command_name", "the command"),
				events.String.Field("command_args", "its arguments"),
				events.String.Field("command_source", "where it comes from"),
				events.String.Field("prompt", "the text"),
			),
			CanBlock: true, Context: true, PlainText: events.PlainContext},
		{Name: "MessageDisplay", Streaming: true, When: "a piece of the answer is shown", Fields: events.Fields(common,
			events.String.Field("turn_id", "the turn"),
			events.String.Field("message_id", "the message"),
			events.Integer.Field("index", "number of the piece"),
			events.Boolean.Field("final", "it is the last piece"),
			events.String.Field("delta", "its text"),
		)},
		{Name: "Stop", Kind: events.KindTurnStop, When: "the agent finished responding; a denial keeps it working",
			Fields: events.Fields(common, stopped...), CanBlock: true, Context: true},
		{Name: "StopFailure", Kind: events.KindError, Also: events.KindTurnStop,
			When: "the turn ended with an API error",
			Fields: events.Fields(common,
				events.String.Field("error", "rate_limit, overloaded, authentication_failed, …"),
				events.String.Field("error_details", "more about it"),
				events.String.Field("last_assistant_message", "the last text"),
			)},
		{Name: "SubagentStart", Kind: events.KindSubagentStart, When: "a subagent starts",
			Fields: common, Context: true},
		{Name: "SubagentStop", Kind: events.KindSubagentStop, When: "a subagent finished; a denial keeps it working",
			Fields: events.Fields(events.Fields(common, stopped...),
				events.String.Field("agent_transcript_path", "file of its conversation"),
			),
			CanBlock: true, Context: true},
		{Name: "Notification", Kind: events.KindNotification, When: "a notification is shown", Context: true,
			Fields: events.Fields(common,
				events.String.Field("message", "its text"),
				events.String.Field("title", "its title"),
				events.String.Field("notification_type", "permission_prompt, idle_prompt, …"),
			)},
	}
}

func sessionRows() []events.Contract {
	trigger := events.String.Field("trigger", "manual or auto")
	watches := []events.Field{events.TakesWatchPaths}
	return []events.Contract{
		{Name: "SessionStart", Kind: events.KindSessionStart, When: "a session starts or resumes",
			Fields: events.Fields(common,
				events.String.Field("source", "startup, resume, clear, compact or fork"),
				events.String.Field("model", "the model"),
				events.String.Field("session_title", "the title"),
			),
			Context: true, PlainText: events.PlainContext,
			Takes: []events.Field{
				events.TakesTitle, events.TakesMessage, events.TakesWatchPaths, events.TakesReloadSkills,
			}},
		{Name: "Setup", When: "the repository is initialised or maintained", Fields: events.Fields(common,
			events.String.Field("trigger", "init or maintenance")), Context: true},
		{Name: "SessionEnd", Kind: events.KindSessionEnd, When: "a session ends", Fields: events.Fields(common,
			events.String.Field("reason", "clear, resume, logout, prompt_input_exit or other"))},
		{Name: "PreCompact", Kind: events.KindCompactBefore, When: "before the conversation is compacted",
			Fields: events.Fields(common,
				trigger,
				events.String.Nullable("custom_instructions", "what the user asked to keep"),
			),
			CanBlock: true},
		{Name: "PostCompact", Kind: events.KindCompactAfter, When: "after the conversation was compacted",
			Fields: events.Fields(common,
				trigger,
				events.String.Field("compact_summary", "the summary"),
			)},
		{Name: "InstructionsLoaded", When: "an instruction file was loaded", Fields: events.Fields(common,
			events.String.Field("file_path", "the file"),
			events.String.Field("memory_type", "User, Project, Local or Managed"),
			events.String.Field("load_reason", "session_start, nested_traversal, path_glob_match, include or compact"),
		)},
		{Name: "ConfigChange", When: "a settings file changed", Fields: events.Fields(common,
			events.String.Field("source", "user_settings, project_settings, local_settings, policy_settings or skills"),
			events.String.Field("file_path", "the file")), CanBlock: true},
		{Name: "CwdChanged", When: "the current directory changed", Fields: events.Fields(common,
			events.String.Field("old_cwd", "before"), events.String.Field("new_cwd", "after")), Takes: watches},
		{Name: "DirectoryAdded", When: "a directory was added to the session", Fields: events.Fields(common,
			events.String.Field("directory", "the directory"),
			events.String.Field("source", "slash_command or register_repo_root"))},
		{Name: "FileChanged", Kind: events.KindFileChanged, When: "a watched file changed",
			Fields: events.Fields(common,
				events.String.Field("file_path", "the file"),
				events.String.Field("event", "change, add or unlink"),
			), Takes: watches},
	}
}

// modelRows are about the model of a session, as seen in 2.1.332.
func modelRows() []events.Contract {
	fields := events.Fields(common,
		events.String.Field("from_model", "the model before"),
		events.String.Field("to_model", "the model after"),
		events.String.Nullable("requested_model", "as it was asked for; null = the default"),
		events.String.Field("source", "command, picker, sdk, auto or resume"),
		events.Integer.Field("context_tokens", "what the next request sends again"),
		events.Boolean.Field("prompt_cache_warm", "a switch forfeits the cache"),
		events.String.Field("cache_ttl", "5m or 1h"),
		events.Number.Field("estimated_cache_write_usd", "what caching again may cost"),
		events.String.Field("pricing", "configured, catalog or default"),
	)
	return []events.Contract{
		{Name: "PreModelSwitch", When: "a person or a program asks for another model", Fields: fields,
			CanBlock: true, Decision: events.DecisionVerdict},
		{Name: "PostModelSwitch", When: "the session has another model", Fields: fields, Context: true},
	}
}

func teamRows() []events.Contract {
	task := events.Fields(common,
		events.String.Field("task_id", "the task"),
		events.String.Field("task_subject", "what it is about"),
		events.String.Field("task_description", "more about it"),
		events.String.Field("teammate_name", "who has it"),
		events.String.Field("team_name", "the team"),
	)
	ask := events.Fields(common, events.String.Field("mcp_server_name", "the server that asks"))
	elicited := []events.Field{events.TakesAction, events.TakesContent}
	return []events.Contract{
		{Name: "TaskCreated", When: "a task is created", Fields: task, CanBlock: true},
		{Name: "TaskCompleted", When: "a task is marked completed", Fields: task, CanBlock: true},
		{Name: "TeammateIdle", When: "a teammate is about to go idle", Fields: events.Fields(common,
			events.String.Field("teammate_name", "who"), events.String.Field("team_name", "the team")), CanBlock: true},
		{Name: "WorktreeCreate", When: "a worktree is to be made; the hook makes it", CanBlock: true,
			Fields: events.Fields(common, events.String.Field("name", "its name"))},
		{Name: "WorktreeRemove", When: "a worktree is to be removed",
			Fields: events.Fields(common, events.String.Field("worktree_path", "the worktree"))},
		{Name: "Elicitation", When: "an MCP server asks the user something", Fields: events.Fields(ask,
			events.String.Field("message", "the question"),
			events.String.Field("mode", "form or url"),
			events.String.Field("url", "where to answer"),
			events.String.Field("elicitation_id", "the question's id"),
			events.Object.Field("requested_schema", "shape of the answer"),
		), CanBlock: true, Takes: elicited},
		{Name: "ElicitationResult", When: "the user answered an MCP server", Fields: events.Fields(ask,
			events.String.Field("action", "accept, decline or cancel"),
			events.Any.Nullable("content", "the answer"),
			events.String.Field("mode", "form or url"),
			events.String.Field("elicitation_id", "the question's id"),
		), CanBlock: true, Takes: elicited},
	}
}

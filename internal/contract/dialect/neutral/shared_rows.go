package neutral

import (
	"sync"

	"github.com/hookd/hookd/internal/events"
)

// formCall are the fields of a tool call.
var formCall = []events.Field{
	events.String.Field("tool_name", "the tool"),
	events.Object.Field("tool_input", "the call's arguments"),
	events.String.Field("tool_use_id", "the call"),
}

var formStop = []events.Field{
	events.Boolean.Field("stop_hook_active", "it already goes on because of a stop hook"),
	events.String.Field("last_assistant_message", "the final text"),
}

var formAgent = []events.Field{
	events.String.Field("agent_id", "the subagent"),
	events.String.Field("agent_type", "its type"),
}

// formRows are the events that agents took over from Claude Code, as most have them:
// a kind of "" is the event's own.
var formRows = sync.OnceValue(func() []events.Contract {
	return []events.Contract{
		{Name: "PreToolUse", Kind: events.KindToolBefore, When: "before a tool call", Fields: formCall,
			ToolMatched: true, Decision: events.DecisionVerdict},
		{Name: "PermissionRequest", Kind: events.KindPermissionRequest, When: "the user would be asked for permission",
			Fields: events.Fields(formCall[:2], events.Array.Field("permission_suggestions",
				"rules that would allow it")),
			ToolMatched: true, Decision: events.DecisionPermission},
		{Name: "PermissionDenied", When: "a tool call was denied", Judge: "its own rules", ToolMatched: true,
			Fields: events.Fields(formCall, events.String.Field("reason", "why"))},
		{Name: "PostToolUse", Kind: events.KindToolAfter, When: "a tool call succeeded", ToolMatched: true,
			Fields: events.Fields(formCall, events.Any.Field("tool_response", "the result"))},
		{Name: "PostToolUseFailure", Kind: events.KindToolAfter, Failed: true, When: "a tool call failed",
			ToolMatched: true,
			Fields: events.Fields(formCall, events.String.Field("error", "what went wrong"),
				events.Boolean.Field("is_interrupt", "the user interrupted it"))},
		{Name: "PostToolBatch", When: "all tool calls of a batch have ended",
			Fields: []events.Field{events.Array.Field("tool_calls", "the calls, with their results")}},
		{Name: "UserPromptSubmit", Kind: events.KindPromptSubmit, When: "the user submitted a prompt",
			Fields: []events.Field{events.String.Field("prompt", "its text")}},
		{Name: "UserPromptExpansion", Kind: events.KindPromptSubmit, When: "a slash command is expanded",
			Fields: []events.Field{events.String.Field("command_name", "the command"), events.String.Field("prompt",
				"the text")}},
		{Name: "Stop", Kind: events.KindTurnStop, When: "the agent finished responding; a denial keeps it working",
			Fields: formStop},
		{Name: "StopFailure", Kind: events.KindError, Also: events.KindTurnStop, When: "the turn ended with an error",
			Fields: []events.Field{events.String.Field("error", "what kind of error"),
				events.String.Field("error_details", "more about it")}},
		{Name: "SubagentStart", Kind: events.KindSubagentStart, When: "a subagent starts", Fields: formAgent},
		{Name: "SubagentStop", Kind: events.KindSubagentStop, When: "a subagent finished; a denial keeps it working",
			Fields: events.Fields(formStop, formAgent...)},
		{Name: "Notification", Kind: events.KindNotification, When: "a notification is shown",
			Fields: []events.Field{events.String.Field("message", "its text"),
				events.String.Field("title", "its title"),
				events.String.Field("notification_type", "its type")}},
		{Name: "SessionStart", Kind: events.KindSessionStart, When: "a session starts or resumes",
			Fields: []events.Field{events.String.Field("source", "startup, resume, clear or compact")}},
		{Name: "SessionEnd", Kind: events.KindSessionEnd, When: "a session ends",
			Fields: []events.Field{events.String.Field("reason", "why")}},
		{Name: "PreCompact", Kind: events.KindCompactBefore, When: "before the conversation is compacted",
			Fields: []events.Field{events.String.Field("trigger", "manual or auto"),
				events.String.Nullable("custom_instructions", "what the user asked to keep")}},
		{Name: "PostCompact", Kind: events.KindCompactAfter, When: "after the conversation was compacted",
			Fields: []events.Field{events.String.Field("trigger", "manual or auto")}},
		{Name: "InstructionsLoaded", When: "an instruction file was loaded",
			Fields: []events.Field{events.String.Field("file_path", "the file"),
				events.String.Field("load_reason", "why it was")}},
		{Name: "ConfigChange", When: "a settings file changed",
			Fields: []events.Field{events.String.Field("source", "which one"), events.String.Field("file_path",
				"the file")}},
		{Name: "CwdChanged", When: "the current directory changed",
			Fields: []events.Field{events.String.Field("old_cwd", "before"), events.String.Field("new_cwd", "after")}},
		{Name: "FileChanged", Kind: events.KindFileChanged, When: "a watched file changed",
			Fields: []events.Field{events.String.Field("file_path", "the file"),
				events.String.Field("event", "change, add or unlink")}},
		{Name: "WorktreeCreate", When: "a worktree is to be made; the hook makes it"},
		{Name: "WorktreeRemove", When: "a worktree is to be removed"},
		{Name: "Elicitation", When: "an MCP server asks the user something"},
		{Name: "ElicitationResult", When: "the user answered an MCP server"},
		{Name: "TaskCreated", When: "a task is created"},
		{Name: "TaskCompleted", When: "a task is marked completed"},
		{Name: "TeammateIdle", When: "a teammate is about to go idle", Fields: []events.Field{
			events.String.Field("teammate_name", "the teammate"),
			events.String.Field("team_name", "the team"),
		}},
		{Name: "Setup", When: "the repository is initialised or maintained"},
	}
})

// Rows returns the rows of the events of names, separated by blanks, that mean the same
// in an agent as in Claude Code. common are the fields of all its payloads; hooks can
// give the answers that the agent reads by f.
func (f *AnswerForm) Rows(common []events.Field, names string) (rows []events.Contract) {
	for _, row := range formRows() {
		if !holds(names, row.Name) {
			continue
		}
		a := Asked{Event: row.Name}
		row.Fields = events.Fields(common, row.Fields...)
		row.CanBlock = f.denies(a) || a.Is(f.Stops)
		row.Context = a.Is(f.Text) || a.Is(f.Plain)
		if f.Takes != nil {
			row.Takes = f.Takes(row.Name)
		}
		if a.Is(f.Elicits) {
			row.Takes = []events.Field{events.TakesAction, events.TakesContent}
		}
		row.FailClosed = row.CanBlock && row.Kind == events.KindToolBefore
		if !row.CanBlock {
			row.Decision = events.DecisionNone
		}
		switch {
		case a.Is(f.Rewrites):
			row.Rewrite, row.Target = events.RewriteInput, "tool_input"
			row.Sequence = row.Kind == events.KindToolBefore
		case a.Is(f.Results):
			row.Rewrite, row.Target, row.Sequence = events.RewriteResponse, "tool_response", true
		}
		if row.Context && (row.Kind == events.KindSessionStart || row.Kind == events.KindPromptSubmit) {
			row.PlainText = events.PlainContext
		}
		rows = append(rows, row)
	}
	return rows
}

// SharedCommon are the fields that all payloads of that form have.
func SharedCommon() []events.Field {
	return []events.Field{
		events.String.Field("session_id", "the session"),
		events.String.Field("transcript_path", "file of the conversation"),
		events.String.Field("cwd", "the current directory"),
		events.String.Field("permission_mode", "how it asks for permission"),
		events.String.Field("hook_event_name", "the event's name"),
	}
}

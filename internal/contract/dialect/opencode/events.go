package opencode

import "github.com/hookd/hookd/internal/events"

// Rows is OpenCode's contract, as hookd's plugin tells it
// (internal/agents/bridge/shims): the arguments that a plugin is called with, input and
// output as one object. A plugin denies a call by throwing; it can change arguments,
// results and prompts, and cannot ask. The two subagent.* names are the plugin's own,
// for sessions that have a parent.
func Rows() []events.Contract {
	call := events.Fields(common,
		events.String.Field("tool", "the tool"),
		events.String.Field("callID", "id of the call"),
		events.Object.Nullable("args", "the call's arguments"),
	)
	child := events.Fields(common,
		events.String.Nullable("title", "its title"),
	)
	failed := events.Fields(common, events.Any.Nullable("error", "what went wrong"))
	asked := events.Fields(common, events.Any.Nullable("permission", "what is asked for"))
	return []events.Contract{
		{Name: "session.created", Kind: events.KindSessionStart, When: "a session starts; told with its first prompt",
			Fields: child, Context: true, PlainText: events.PlainContext},
		{Name: "session.deleted", Kind: events.KindSessionEnd, When: "a session was deleted", Fields: common},
		{Name: "chat.message", Kind: events.KindPromptSubmit, When: "the user submitted a prompt",
			Fields: events.Fields(common,
				events.String.Field("prompt", "the prompt"),
				events.String.Nullable("agent", "the agent"),
				events.String.Nullable("messageID", "the message"),
			),
			CanBlock: true, Context: true, PlainText: events.PlainContext},
		{Name: "tool.execute.before", Kind: events.KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true,
			Decision: events.DecisionVerdict, Rewrite: events.RewriteInput, Target: "args"},
		{Name: "tool.execute.after", Kind: events.KindToolAfter, When: "a tool call ended",
			Fields: events.Fields(call,
				events.String.Nullable("title", "the call's title"),
				events.String.Field("output", "what the model sees"),
				events.Any.Nullable("metadata", "what the tool says besides"),
			),
			ToolMatched: true, CanBlock: true, Context: true},
		{Name: "session.idle", Kind: events.KindTurnStop, When: "the agent is done", Fields: common},
		{Name: "session.error", Kind: events.KindError, When: "a session failed", Fields: failed},
		{Name: "experimental.session.compacting", Kind: events.KindCompactBefore, When: "before the conversation is compacted",
			Fields: common, Context: true},
		{Name: "session.compacted", Kind: events.KindCompactAfter, When: "the conversation was compacted",
			Fields: common},
		{Name: "permission.asked", Kind: events.KindPermissionRequest, When: "a person is asked; hooks cannot answer",
			Fields: asked},
		{Name: "permission.replied", When: "a person has answered", Fields: common},
		{Name: "file.edited", Kind: events.KindFileChanged, When: "a file was written",
			Fields: events.Fields(common, events.String.Field("file", "the file"))},
		{Name: "command.executed", When: "a slash command ran",
			Fields: events.Fields(common,
				events.String.Field("name", "the command"),
				events.String.Nullable("arguments", "its arguments"),
			)},
		{Name: "subagent.created", Kind: events.KindSubagentStart, When: "a session with a parent starts",
			Fields: child},
		{Name: "subagent.idle", Kind: events.KindSubagentStop, When: "a session with a parent is done", Fields: common},
	}
}

var common = []events.Field{
	events.String.Nullable("sessionID", "the session"),
	events.String.Field("cwd", "the directory that the agent was started in"),
	events.String.Nullable("parentID", "the session that started it"),
}

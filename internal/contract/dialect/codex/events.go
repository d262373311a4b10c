package codex

import "github.com/hookd/hookd/internal/events"

// Rows is OpenAI Codex's contract.
func Rows() []events.Contract {
	turn := events.Fields(common,
		events.String.Field("turn_id", "the turn"),
		events.String.Field("permission_mode", "default, acceptEdits, plan, dontAsk or bypassPermissions"),
	)
	agent := events.Fields(turn,
		events.String.Field("agent_id", "the subagent"),
		events.String.Field("agent_type", "its type"),
	)
	call := events.Fields(turn,
		events.String.Field("tool_name", "the tool"),
		events.String.Field("tool_use_id", "the call"),
		events.Object.Field("tool_input", "the call's arguments"),
	)
	stop := []events.Field{
		events.Boolean.Field("stop_hook_active", "it already goes on because of a stop hook"),
		events.String.Nullable("last_assistant_message", "the final text"),
	}
	compact := events.Fields(common,
		events.String.Field("turn_id", "the turn"),
		events.String.Field("trigger", "manual or auto"),
	)
	return []events.Contract{
		{Name: "SessionStart", Kind: events.KindSessionStart, When: "a session starts or resumes",
			Fields: events.Fields(common,
				events.String.Field("permission_mode", "default, acceptEdits, plan, dontAsk or bypassPermissions"),
				events.String.Field("source", "startup, resume, clear or compact"),
			),
			Context: true, PlainText: events.PlainContext, CanBlock: true},
		{Name: "SessionEnd", Kind: events.KindSessionEnd, When: "a session ends",
			Fields: events.Fields(common, events.String.Field("reason", "other"))},
		{Name: "UserPromptSubmit", Kind: events.KindPromptSubmit, When: "the user submitted a prompt",
			Fields:   events.Fields(turn, events.String.Field("prompt", "its text")),
			CanBlock: true, Context: true, PlainText: events.PlainContext},
		{Name: "PreToolUse", Kind: events.KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true, Context: true,
			Decision: events.DecisionVerdict, Rewrite: events.RewriteInput, Target: "tool_input"},
		{Name: "PermissionRequest", Kind: events.KindPermissionRequest, When: "the user would be asked for permission",
			Fields: events.Fields(turn,
				events.String.Field("tool_name", "the tool"),
				events.Object.Field("tool_input", "the call's arguments, with a description"),
			),
			ToolMatched: true, CanBlock: true, Decision: events.DecisionPermission},
		{Name: "PostToolUse", Kind: events.KindToolAfter, When: "a tool call ended; a denial replaces the result",
			Fields: events.Fields(call, events.Any.Field("tool_response", "the result"),
				events.Integer.Field(exitCode, "of a command, which hookd-bridge adds from the file of the conversation")),
			ToolMatched: true, CanBlock: true, Context: true},
		{Name: "SubagentStart", Kind: events.KindSubagentStart, When: "a subagent starts", Fields: agent,
			Context: true, PlainText: events.PlainContext},
		{Name: "SubagentStop", Kind: events.KindSubagentStop, When: "a subagent finished; a denial keeps it working",
			Fields: events.Fields(events.Fields(agent, stop...),
				events.String.Nullable("agent_transcript_path", "file of its conversation"),
			),
			CanBlock: true},
		{Name: "Stop", Kind: events.KindTurnStop, When: "the agent finished responding; a denial keeps it working",
			Fields: events.Fields(turn, stop...), CanBlock: true},
		{Name: "PreCompact", Kind: events.KindCompactBefore, When: "before the conversation is compacted",
			Fields: compact, CanBlock: true},
		{Name: "PostCompact", Kind: events.KindCompactAfter, When: "after the conversation was compacted",
			Fields: compact, CanBlock: true},
		{Name: "Interrupt", Kind: events.KindTurnInterrupt, When: "the user interrupted the turn", Fields: turn},
	}
}

var common = []events.Field{
	events.String.Field("session_id", "the session; a subagent has its parent's"),
	events.String.Nullable("transcript_path", "file of the conversation"),
	events.String.Field("cwd", "the current directory"),
	events.String.Field("hook_event_name", "the event's name"),
	events.String.Field("model", "the model"),
}

package crush

import "github.com/hookd/hookd/internal/events"

// Rows is Crush's contract. A compaction comes as a call of a tool named compact.
func Rows() []events.Contract {
	fields := []events.Field{
		events.String.Field("event", "the event's name"),
		events.String.Field("session_id", "the session"),
		events.String.Field("cwd", "the current directory"),
		events.String.Field("tool_name", "the tool"),
		events.Object.Field("tool_input", "the call's arguments"),
	}
	return []events.Contract{
		{Name: "PreToolUse", Kind: events.KindToolBefore, When: "before a tool call of the main agent", Fields: fields,
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true, Context: true,
			Decision: events.DecisionVerdict, Rewrite: events.RewriteInput, Target: "tool_input"},
		{Name: "PreCompact", Kind: events.KindCompactBefore, When: "before the conversation is compacted",
			Fields:   fields,
			CanBlock: true},
	}
}

package antigravity

import "github.com/hookd/hookd/internal/events"

// Rows is the contract of Antigravity's agy, measured by others.
func Rows() []events.Contract {
	call := events.Fields(common, events.Object.Field("toolCall", "name, args"))
	return []events.Contract{
		{Name: "SessionStart", Kind: events.KindSessionStart, When: "a session starts", Fields: common},
		{Name: "PreToolUse", Kind: events.KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Decision: events.DecisionVerdict},
		{Name: "PostToolUse", Kind: events.KindToolAfter, When: "a tool call ended", Fields: call, ToolMatched: true},
		{Name: "PreInvocation", Kind: events.KindModelBefore, When: "before a model call",
			Fields: common, Context: true},
		{Name: "PostInvocation", Kind: events.KindModelAfter, When: "after a model call", Fields: common},
		{Name: "Stop", Kind: events.KindTurnStop, When: "the agent finished; a denial keeps it working",
			Fields: common, CanBlock: true},
	}
}

var common = []events.Field{
	events.String.Field("conversationId", "the session"),
	events.Integer.Field("stepIdx", "the step"),
	events.String.Field("modelName", "the model"),
	events.String.Field("transcriptPath", "file of the conversation"),
	events.Array.Field("workspacePaths", "the open folders"),
}

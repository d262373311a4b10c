package amp

import "github.com/hookd/hookd/internal/events"

// Rows is the contract of Amp's plugins, as hookd's plugin tells it
// (internal/agents/bridge/shims).
func Rows() []events.Contract {
	call := events.Fields(common,
		events.String.Field("tool", "the tool"),
		events.Object.Field("input", "the call's arguments"),
		events.String.Field("toolUseID", "id of the call"),
	)
	return []events.Contract{
		{Name: "session.start", Kind: events.KindSessionStart, When: "a thread starts; told with its first prompt",
			Fields: common, Context: true, PlainText: events.PlainContext},
		{Name: "agent.start", Kind: events.KindPromptSubmit, When: "the user submitted a prompt",
			Fields:  events.Fields(common, events.String.Field("message", "the prompt")),
			Context: true, PlainText: events.PlainContext},
		{Name: "tool.call", Kind: events.KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Sequence: true,
			Decision: events.DecisionVerdict, Rewrite: events.RewriteInput, Target: "input"},
		{Name: "tool.result", Kind: events.KindToolAfter, When: "a tool call ended",
			Fields: events.Fields(call,
				events.String.Field("status", "done, error or cancelled"),
				events.Any.Nullable("output", "the result"),
				events.Any.Nullable("error", "what went wrong"),
			),
			ToolMatched: true, CanBlock: true, Context: true},
		{Name: "agent.end", Kind: events.KindTurnStop, When: "the agent is done; a denial keeps it working",
			Fields: events.Fields(common,
				events.String.Nullable("message", "the prompt"),
				events.String.Nullable("status", "done, error or cancelled"),
			),
			CanBlock: true},
	}
}

var common = []events.Field{
	events.String.Nullable("threadID", "the thread"),
	events.String.Field("cwd", "the directory that Amp was started in"),
}

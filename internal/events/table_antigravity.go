package events

// antigravityRows is the contract of Antigravity's agy (reference/dialects.md
// A4), measured by others.
func antigravityRows() []Contract {
	call := fields(antigravityCommon, Field{"toolCall", Object, false, "name, args"})
	return []Contract{
		{Name: "SessionStart", Kind: KindSessionStart, When: "a session starts", Fields: antigravityCommon},
		{Name: "PreToolUse", Kind: KindToolBefore, When: "before a tool call", Fields: call,
			ToolMatched: true, CanBlock: true, FailClosed: true, Decision: DecisionVerdict},
		{Name: "PostToolUse", Kind: KindToolAfter, When: "a tool call ended", Fields: call, ToolMatched: true},
		{Name: "PreInvocation", Kind: KindModelBefore, When: "before a model call", Fields: antigravityCommon, Context: true},
		{Name: "PostInvocation", Kind: KindModelAfter, When: "after a model call", Fields: antigravityCommon},
		{Name: "Stop", Kind: KindTurnStop, When: "the agent finished; a block keeps it working", Fields: antigravityCommon, CanBlock: true},
	}
}

var antigravityCommon = []Field{
	{"conversationId", String, false, "the session"},
	{"stepIdx", Integer, false, "the step"},
	{"modelName", String, false, "the model"},
	{"transcriptPath", String, false, "file of the conversation"},
	{"workspacePaths", Array, false, "the open folders"},
}

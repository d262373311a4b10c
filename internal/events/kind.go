package events

// The kinds that several dialects have. An event that means nothing to any other
// dialect has a kind of its own, spelled like its name.
const (
	KindDaemonStart       Kind = "daemon.start"
	KindSessionStart      Kind = "session.start"
	KindSessionEnd        Kind = "session.end"
	KindSessionReset      Kind = "session.reset"
	KindPromptSubmit      Kind = "prompt.submit"
	KindTurnStep          Kind = "turn.step"
	KindTurnStop          Kind = "turn.stop"
	KindTurnInterrupt     Kind = "turn.interrupt"
	KindToolBefore        Kind = "tool.before"
	KindToolAfter         Kind = "tool.after"
	KindToolTransform     Kind = "tool.transform"
	KindPermissionRequest Kind = "permission.request"
	KindModelBefore       Kind = "model.before"
	KindModelAfter        Kind = "model.after"
	KindCompactBefore     Kind = "compact.before"
	KindCompactAfter      Kind = "compact.after"
	KindError             Kind = "error"
	KindNotification      Kind = "notification"
	KindSubagentStart     Kind = "subagent.start"
	KindSubagentStop      Kind = "subagent.stop"
	KindFileChanged       Kind = "file.changed"
)

package deepagents

import "github.com/hookd/hookd/internal/events"

// Rows is the contract of deepagents' command line: no event can be decided.
func Rows() []events.Contract {
	common := []events.Field{events.String.Field("event", "the event's name"), events.String.Field("thread_id",
		"the session")}
	tell := func(name string, kind events.Kind, when string) events.Contract {
		return events.Contract{Name: name, Kind: kind, When: when, Fields: common}
	}
	return []events.Contract{
		tell("session.start", events.KindSessionStart, "a session starts"),
		tell("session.end", events.KindSessionEnd, "a session ends"),
		tell("user.prompt", events.KindPromptSubmit, "the user submitted a prompt"),
		tell("input.required", events.KindNotification, "the agent waits for a person"),
		tell("permission.request", events.KindPermissionRequest, "a person is asked about a tool call"),
		tell("tool.use", "", "a tool is about to be called"),
		tell("tool.result", events.KindToolAfter, "a tool call ended"),
		tell("tool.error", "", "a tool call failed"),
		tell("task.complete", events.KindTurnStop, "the agent finished"),
		tell("context.compact", events.KindCompactBefore, "the conversation is compacted"),
	}
}

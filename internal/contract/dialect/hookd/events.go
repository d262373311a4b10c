// Package hookd holds the contract of the daemon's own events, which no agent sends.
package hookd

import (
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect. No agent sends its events.
func System() neutral.System { return neutral.System{Name: events.Hookd, Events: Rows} }

var ask = []events.Field{
	events.String.Field("id", "the ask, as hookd ask allow and hookd ask deny take it"),
	events.String.Field("event_id", "the event that it is about"),
	events.String.Field("hook", "the hook that asks"),
	events.String.Field("reason", "why, in the hook's words"),
	events.String.Field("agent", "the agent that waits"),
	events.String.Field("session_id", "its session"),
	events.String.Field("cwd", "its current directory"),
	events.String.Field("tool", "the tool that it wants to call, by its canonical name"),
	events.String.Field("subject", "what the call is about, on one line without secrets"),
	events.Object.Field("input", "the call's arguments without secrets; absent when they are larger than 16 KiB"),
	events.Object.Field("card", "what people are shown: what, says, small and digest, see docs/asks.md; absent when it has ended"),
	events.String.Field("since", "RFC 3339"),
	events.String.Field("until", "the end of the wait, RFC 3339"),
	events.String.Field("show", "the command to type to see the whole call"),
	events.String.Field("allow", "the command to type to allow it; absent where a card here shows only a part of the call"),
	events.String.Field("deny", "the command to type to deny it"),
}

// call is about a tool call that hooks did not guard.
var call = []events.Field{
	events.String.Field("agent", "the agent, by its dialect"),
	events.String.Field("session_id", "its session"),
	events.String.Field("cwd", "its current directory"),
	events.String.Field("call_id", "the call, as its agent counts them"),
	events.String.Field("tool", "the tool, by its canonical name"),
	events.String.Field("subject", "what the call was about, on one line without secrets"),
	events.String.Field("event_id", "the event that reported the result"),
	events.String.Field("why", "in words for people"),
	events.String.Field("do", "the command to type"),
}

// Rows are the daemon's own events.
func Rows() []events.Contract {
	return []events.Contract{
		{Name: events.EventReload, When: "the set of hooks was read again and has changed"},
		{Name: events.EventHookChanged, When: "one hook was added, changed, removed or rejected"},
		{Name: events.EventGuardGone, When: "a guard was removed or switched off, or does not load any more",
			Fields: []events.Field{
				events.String.Field("hook", "its ID"),
				events.String.Field("change", "removed, changed, disabled, rejected or waiting"),
				events.String.Field("digest", "of what was in force"),
				events.String.Field("layer", "user, pack, project or policy"),
				events.String.Field("by", "the owner of the file, or the user who allowed it"),
				events.String.Field("why", "the problem of its file; empty when it is gone"),
			}},
		{Name: events.EventAsk, When: "a hook asks, and hookd holds the call until a person answers", Fields: ask},
		{Name: events.EventAnswered, When: "such a question has ended: it was answered, or no answer came",
			Fields: events.Fields(ask,
				events.Object.Field("answered", "by what and how: by, answer, for, message, from"))},
		{Name: events.EventDisobeyed, When: "an agent ran a call that was denied, or ran another input than hookd answered for",
			Fields: events.Fields(call, events.String.Field("denied", "event_id of the decision"))},
		{Name: events.EventUnguarded, Fields: call,
			When: "an agent on this machine runs calls without an answer of hookd; once an hour for an agent and tool"},
		{Name: events.EventDecided, When: "something was decided about an event; `when: {data.decision: deny}` asks for denials alone",
			Fields: []events.Field{
				events.String.Field("event_id", "the event that it was decided about"),
				events.String.Field("event", "its name"),
				events.String.Field("dialect", "of the agent"),
				events.String.Field("agent_name", "the agent"),
				events.String.Field("session_id", "its session"),
				events.String.Field("cwd", "its current directory"),
				events.String.Field("tool", "the tool, by its canonical name"),
				events.String.Field("subject", "what the call is about, on one line without secrets"),
				events.String.Field("decision", "deny, ask, allow or none"),
				events.String.Field("outcome", "the same; rewrite or context where hooks changed or added something"),
				events.String.Field("reason", "why, in the hook's words"),
				events.Array.Field("decided_by", "the hooks whose answers made it"),
				events.Object.Field("answered", "by which person, grant or permit; absent where none answered"),
				events.String.Field("why", "the command that tells the whole story"),
				events.String.Field("permit", "the command that lets the next same call pass; absent unless it was denied"),
			}},
		{Name: events.EventStop, When: "the daemon stops (subscribers only)"},
	}
}

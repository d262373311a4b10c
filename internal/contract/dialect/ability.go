package dialect

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// Ability is something that a hook may answer, and whether an agent's protocol
// can express it.
type Ability struct {
	Name string
	Can  bool
	Else string // what happens to the answer where the agent cannot

	kind   events.Kind
	answer verdict.Answer
}

const (
	rewritten  = `{"a":1}` // a new input
	notSaid    = "it is dropped"
	notBlocked = "it goes on; hookd logs what hooks said"
)

// abilities are the answers that hooks can give to an event of a kind. It is a
// function, not a variable, so that the bridge never builds the list.
func abilities() []Ability {
	var (
		no      = verdict.Answer{ExitCode: 2, Stderr: "R"}
		ask     = verdict.Answer{PermissionDecision: "ask"}
		allow   = verdict.Answer{PermissionDecision: "allow"}
		input   = verdict.Answer{UpdatedInput: json.RawMessage(rewritten)}
		both    = verdict.Answer{UpdatedInput: json.RawMessage(rewritten), PermissionDecision: "allow"}
		result  = verdict.Answer{UpdatedResponse: json.RawMessage(`"x"`)}
		context = verdict.Answer{Context: "T"}
		stop    = verdict.Answer{Continue: new(bool), StopReason: "S"}
		message = verdict.Answer{SystemMessage: "M"}
	)
	return []Ability{
		{Name: "deny a tool call", kind: events.KindToolBefore, answer: no,
			Else: "the call runs: its hooks only watch"},
		{Name: "ask a person about it", kind: events.KindToolBefore, answer: ask,
			Else: "the call is denied; with --ask=none the agent's own rules decide"},
		{Name: "approve it", kind: events.KindToolBefore, answer: allow,
			Else: "the agent's own rules decide"},
		{Name: "rewrite it", kind: events.KindToolBefore, answer: input,
			Else: "the call has the input that it had: deny instead, or approve it as well"},
		{Name: "rewrite it and approve it", kind: events.KindToolBefore, answer: both,
			Else: "the call has the input that it had: deny instead"},
		{Name: "add context to it", kind: events.KindToolBefore, answer: context, Else: notSaid},
		{Name: "answer a permission request", kind: events.KindPermissionRequest, answer: allow,
			Else: "the person is asked"},
		{Name: "replace a tool's result", kind: events.KindToolAfter, answer: result,
			Else: "the model sees the old one: redaction does not work"},
		{Name: "add context to a result", kind: events.KindToolAfter, answer: context, Else: notSaid},
		{Name: "deny a prompt", kind: events.KindPromptSubmit, answer: no, Else: notBlocked},
		{Name: "add context to a prompt", kind: events.KindPromptSubmit, answer: context, Else: notSaid},
		{Name: "add context at the start", kind: events.KindSessionStart, answer: context, Else: notSaid},
		{Name: "keep the agent working at its stop", kind: events.KindTurnStop, answer: no, Else: "it stops"},
		{Name: "stop the agent", kind: events.KindToolAfter, answer: stop, Else: "the one thing at hand is denied"},
		{Name: "deny a compaction", kind: events.KindCompactBefore, answer: no, Else: notBlocked},
		{Name: "tell the user something", kind: events.KindToolBefore, answer: message, Else: notSaid},
	}
}

// Abilities returns the actions that hooks can make the agent that speaks d take: the
// answers that its protocol has words for, found by trying each. It is nil for a
// dialect without an agent.
func Abilities(d events.Dialect) []Ability {
	agent := Agent(d)
	if agent == nil {
		return nil
	}
	list := abilities()
	for i := range list {
		a := &list[i]
		if agent.Answer == nil {
			a.Can = slices.Contains(strings.Split(agent.PluginCan, ", "), a.Name)
		} else {
			a.Can = can(d, agent, a.kind, a.answer)
		}
	}
	return list
}

// can reports whether the agent reads anything of the answer when a hook gives it.
func can(d events.Dialect, agent *neutral.Agent, kind events.Kind, answer verdict.Answer) bool {
	answer.Terms = verdict.Terms{Name: "hook", Blocking: true}
	rows := events.OfKind(kind)
	if answer.UpdatedResponse != nil {
		rows = append(rows, events.OfKind(events.KindToolTransform)...)
	}
	for _, row := range rows {
		a := neutral.Asked{Event: row.Name, Payload: json.RawMessage(`{"tool_name":"MCP:x"}`)}
		if row.Dialect != d {
			continue
		}
		a.Verdict = &verdict.Verdict{Allowed: true, Continue: true}
		none := agent.Answer(a)
		a.Verdict = verdict.Fold(row, a.Payload, []verdict.Answer{answer})
		if answer.UpdatedResponse != nil && agent.Replaces != nil && agent.Replaces(row.Name, a.Payload) {
			a.Verdict.UpdatedToolResponse = answer.UpdatedResponse // of the tool.transform before it
		}
		if answer.UpdatedInput != nil {
			if strings.Contains(agent.Answer(a).Stdout, rewritten) {
				return true
			}
			continue
		}
		noise := answer.SystemMessage == "" && a.Verdict.SystemMessage != "" // "this event cannot do that"
		if asked := a.Asks() && !a.Is(agent.Asks); !asked && !noise && agent.Answer(a) != none {
			return true
		}
	}
	return false
}

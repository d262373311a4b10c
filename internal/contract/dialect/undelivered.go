package dialect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// mark stands for the text of one part of an answer: where it is not in the text that
// the agent reads, that part does not reach the agent.
const mark = "hookd-mark-7f3a"

// answerPart is one thing that an answer may hold beside a denial.
type answerPart struct {
	name  string                        // as a hook writes it
	given func(a *verdict.Answer) bool  // the answer has it
	taken func(c *events.Contract) bool // an event of c has a use for it
	put   func(a *verdict.Answer)       // gives the answer a marked one
}

// parts are in the order in which they are warned of. It is a function so that the
// bridge does not make it.
func parts() []answerPart {
	const text = `"` + mark + `"`
	return []answerPart{
		{
			"permission_decision allow", func(a *verdict.Answer) bool { return a.PermissionDecision == "allow" },
			func(c *events.Contract) bool { return c.Decision != events.DecisionNone }, nil,
		},
		{
			"updated_input", func(a *verdict.Answer) bool { return a.UpdatedInput != nil },
			func(c *events.Contract) bool { return c.Rewrite == events.RewriteInput },
			func(a *verdict.Answer) { a.UpdatedInput = json.RawMessage(`{"command":` + text + `}`) },
		},
		{
			"updated_tool_response", func(a *verdict.Answer) bool { return a.UpdatedResponse != nil },
			func(c *events.Contract) bool { return c.Rewrite == events.RewriteResponse },
			func(a *verdict.Answer) { a.UpdatedResponse = json.RawMessage(text) },
		},
		{
			"updated_messages", func(a *verdict.Answer) bool { return a.UpdatedMessages != nil },
			func(c *events.Contract) bool { return c.Rewrite == events.RewriteMessages },
			func(a *verdict.Answer) { a.UpdatedMessages = json.RawMessage("[" + text + "]") },
		},
		{
			"additional_context", func(a *verdict.Answer) bool { return a.Context != "" },
			func(c *events.Contract) bool { return c.Context },
			func(a *verdict.Answer) { a.Context = mark },
		},
		{
			"summary", func(a *verdict.Answer) bool { return a.Summary != "" },
			func(c *events.Contract) bool { return c.Summary },
			func(a *verdict.Answer) { a.Summary = mark },
		},
		{
			"metadata", func(a *verdict.Answer) bool { return len(a.Metadata) > 0 },
			func(c *events.Contract) bool { return c.Metadata },
			func(a *verdict.Answer) { a.Metadata = map[string]string{mark: mark} },
		},
		{
			// the words of hookd itself about a skip are no answer of the hook
			"system_message", func(a *verdict.Answer) bool { return a.SystemMessage != "" && !a.Skip },
			func(*events.Contract) bool { return true },
			func(a *verdict.Answer) { a.SystemMessage = mark },
		},
	}
}

// Undelivered says, in words for people, which parts of a do not reach the agent that
// sent e, though an event of c takes them: its protocol has no words for them. Of
// an answer that denies only the denial counts, and every agent whose event can be
// blocked takes that. It returns nil where no agent reads the answer.
func Undelivered(e *events.Event, c *events.Contract, a verdict.Answer) []string {
	if c.PlainText == events.PlainContext && a.PlainText != "" {
		a.Context, a.PlainText = a.PlainText, ""
	}
	says := a.PermissionDecision == "allow" || a.Context != "" || a.SystemMessage != "" || a.Summary != "" ||
		len(a.Metadata) > 0 || a.UpdatedInput != nil || a.UpdatedResponse != nil || a.UpdatedMessages != nil
	if !says {
		return nil
	}
	agent := Agent(e.Dialect)
	if agent == nil || !c.Decidable || !a.Terms.Blocking || a.Failure != "" || a.Blocked || !asked(e, agent) {
		return nil
	}
	return lostParts(e, c, agent, a)
}

// lostParts is Undelivered for an answer that the agent reads. It is apart from it because a copy of
// the answer is made for it, and most answers say nothing.
func lostParts(e *events.Event, c *events.Contract, agent *neutral.Agent, a verdict.Answer) (lost []string) {
	for _, p := range parts() {
		if !p.given(&a) || !p.taken(c) || delivered(e, c, agent, a, p) {
			continue
		}
		approved := a
		approved.PermissionDecision = "allow"
		if delivered(e, c, agent, approved, p) {
			lost = append(lost, fmt.Sprintf("%s was ignored: %s takes it only from a hook that also allows the call",
				p.name, e.Dialect))
			continue
		}
		lost = append(lost, fmt.Sprintf("%s was ignored: %s takes none with %s", p.name, e.Dialect, e.Envelope.Event))
	}
	return lost
}

// asked reports whether the agent reads an answer to e under the name that e has.
func asked(e *events.Event, agent *neutral.Agent) bool {
	name := e.Envelope.Event
	return events.LookupIn(e.Dialect, name) != nil ||
		agent.Borrows != "" && events.LookupIn(agent.Borrows, name) != nil
}

// delivered reports whether the agent reads part p of a.
func delivered(e *events.Event, c *events.Contract, agent *neutral.Agent, a verdict.Answer, p answerPart) bool {
	if agent.Answer == nil {
		return pluginCan(e.Dialect, c.Kind, p)
	}
	reply := func(a verdict.Answer) neutral.Reply {
		v := verdict.Fold(c, e.Data, []verdict.Answer{a})
		return agent.Answer(neutral.Asked{Event: e.Envelope.Event, Payload: e.Data, Verdict: v})
	}
	if p.put == nil {
		without := a
		without.PermissionDecision = ""
		with := reply(a)
		return with != reply(without) || strings.Contains(with.Stdout, `"allow"`)
	}
	p.put(&a)
	read := reply(a)
	return strings.Contains(read.Stdout, mark) || read.Exit != 0 && strings.Contains(read.Stderr, mark)
}

// pluginCan reports whether the plugin that speaks for d knows the part.
func pluginCan(d events.Dialect, kind events.Kind, p answerPart) bool {
	list := Abilities(d)
	i := slices.IndexFunc(list, func(x Ability) bool { return x.kind == kind && p.given(&x.answer) })
	return i >= 0 && list[i].Can
}

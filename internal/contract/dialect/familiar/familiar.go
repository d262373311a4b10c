// Package familiar speaks Familiar's dialect: which agent an event belongs to and where
// its hooks run, the values of their template variables, and the meaning of an exit
// code. Reading AGENT.md files is package source/familiar's business. It is pure:
// nothing here blocks or keeps state.
package familiar

import (
	"encoding/json"
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	return neutral.System{
		Name: events.Familiar, Events: Rows, Captured: true, Agent: Bridge, Settings: Settings, Rules: &rules,
		Probe: "beforeToolCall",
	}
}

// rules are the rules of the hooks of an AGENT.md.
var rules = neutral.Rules{
	Agent: Agent, Place: Workspace, Conversation: Conversation, Chained: true,
	Variables: func(e *events.Event, given string, payload json.RawMessage, output string) func(string) (string, bool) {
		return NewContext(e, given, payload, output).Value
	},
	Read: func(c *events.Contract, p verdict.Terms, capture bool, out verdict.Output) neutral.Reading {
		a := Read(c, Terms{Terms: p, Capture: capture}, out)
		return neutral.Reading{
			Answer: a.Answer, Failure: a.Failure, Silent: a.Silent, Aborts: a.Aborts,
			Output: a.Output, Result: a.Result(),
		}
	},
}

// Bridge is Familiar as the bridge serves it: a script of its AGENT.md passes
// {{json_context}} to the bridge's stdin and the event's name as its argument.
func Bridge() neutral.Agent {
	return neutral.Agent{Table: Table(), Timeout: neutral.Always(30 * time.Second), Breaks: true, Answer: Reply}
}

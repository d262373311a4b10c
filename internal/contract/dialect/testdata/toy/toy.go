// Package toy is an agent that does not exist: tests add it to the index, as a new
// agent is added.
package toy

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Name is the dialect's.
const Name events.Dialect = "toy"

// System is what the index of package dialect lists.
func System() neutral.System {
	return neutral.System{Name: Name, Events: rows, Agent: agent, Settings: settings}
}

func rows() []events.Contract {
	return []events.Contract{{
		Name: "toy_call", Kind: events.KindToolBefore, When: "before a tool call",
		Fields:      []events.Field{events.String.Field("what", "the tool"), events.Object.Field("with", "its arguments")},
		ToolMatched: true, CanBlock: true, FailClosed: true, Decision: events.DecisionVerdict,
	}}
}

func agent() neutral.Agent {
	return neutral.Agent{
		Table: neutral.Table{
			Rows: []neutral.FieldFact{
				{Field: "event", Fact: neutral.Event},
				{Field: "what", Fact: neutral.Tool},
				{Field: "with", Fact: neutral.Input},
			},
			Tools: []neutral.ToolName{{Own: "wind_up", Canonical: "Bash", Args: "line=command"}},
		},
		EventField: "event", Timeout: neutral.Always(30 * time.Second), Answer: answer,
	}
}

func answer(a neutral.Asked) neutral.Reply {
	if a.Denies() {
		return neutral.Say("", neutral.Str("stop", a.Reason()))
	}
	return neutral.Say("{}")
}

func settings() neutral.Settings {
	return neutral.Settings{
		Dir: ".toy", File: "hooks.json", Format: neutral.FormatJSON, At: []string{"hooks"},
		Shape: neutral.Handlers, Keys: neutral.StandardKeys, Unit: time.Second,
	}
}

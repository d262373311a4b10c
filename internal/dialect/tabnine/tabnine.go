// Package tabnine speaks the dialect of Tabnine's command line, which began as Gemini
// CLI's. It is pure. Every answer is an object, and "no opinion" is {}.
package tabnine

import (
	"time"

	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is what the index of package dialect lists.
func System() neutral.System {
	return neutral.System{
		Name: events.Tabnine, Events: Rows, Words: Words, Agent: Agent, Settings: Settings, Probe: probe,
	}
}

// Agent is Tabnine's command line.
func Agent() neutral.Agent {
	return neutral.Agent{
		Table: Table(), EventField: "hook_event_name", Timeout: neutral.Always(60 * time.Second), Asks: "BeforeTool",
		Quiet: true, ResultField: "tool_response", Replaces: neutral.On("AfterTool"), Answer: Answer,
	}
}

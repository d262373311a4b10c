package doctor

import (
	"context"
	"strings"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Way is one way in which an agent makes calls, and whether the record has seen hookd asked on it. A probe cannot
// show that: only the agent itself goes these ways.
type Way struct {
	Way  string     `json:"way"`
	Seen *time.Time `json:"seen,omitempty"` // the newest; nil = never, among the events that were looked at
	Try  string     `json:"try,omitempty"`  // what to let the agent do, to see it
	Bad  string     `json:"bad,omitempty"`  // what went wrong on the newest
}

// ways are the ways that are looked for. is reports whether an event that hookd was asked about came on it.
var ways = []struct {
	way, try string
	is       func(e *seenEvent) bool
}{
	{"in a subagent", "have it start a subagent that runs `date`", func(e *seenEvent) bool { return e.agent != "" }},
	{"an MCP server's tool", "have it call a tool of an MCP server", func(e *seenEvent) bool {
		return strings.HasPrefix(e.Tool, "mcp__")
	}},
	{"in the background", "have it run `sleep 5` in the background", func(e *seenEvent) bool { return e.background() }},
	{"a skill's own shell line", "type /NAME of a skill that has a line in !`…`", func(e *seenEvent) bool {
		return e.Contract.Name == "PreSkillShellCommand"
	}},
	{"after a slash command", "type a slash command", func(e *seenEvent) bool {
		isPrompt := e.Contract.Kind == events.KindPromptSubmit
		return e.Contract.Name == "UserPromptExpansion" || isPrompt && strings.HasPrefix(e.prompt, "/")
	}},
	{"with a person", "use it in a terminal", func(e *seenEvent) bool { return e.isCall() && !e.Unasked }},
	{"headless", "start it with a prompt and no terminal, as in `claude -p`", func(e *seenEvent) bool {
		return e.isCall() && e.Unasked
	}},
}

// seenEvent is an event of the record, with the facts that the ways need.
type seenEvent struct {
	events.Event
	agent, prompt string
	input         []byte
}

func (e *seenEvent) isCall() bool { return e.Contract.Kind == events.KindToolBefore }

// background reports whether a call says that it runs in the background, in one of the agents' words for it.
func (e *seenEvent) background() bool {
	for _, name := range []string{"run_in_background", "is_background", "background"} {
		if e.isCall() && string(rawjson.Get(e.input, name)) == "true" {
			return true
		}
	}
	return false
}

// waysOf looks at the newest events of the agent, and at its newest rewrites.
func (w *way) waysOf(ctx context.Context) []Way {
	if w.status == nil {
		return nil
	}
	ctx, cancel := w.ask(ctx)
	defer cancel()
	list := make([]Way, len(ways))
	for i, one := range ways {
		list[i] = Way{Way: one.way, Try: one.try}
	}
	a := dialect.Agent(w.dialect)
	tells := a != nil && (a.Alone != "" || a.Unasked != nil)
	query := client.EventQuery{Agent: string(w.dialect), Limit: mostWays}
	err := w.Client.Past(ctx, query, func(stored client.StoredEvent) error {
		row := events.For(stored.Dialect, stored.Event)
		if row == nil || stored.SessionID == Session || stored.Tried {
			return nil
		}
		e := &seenEvent{Event: events.Event{Envelope: events.Received(stored.Envelope), Contract: row}}
		facts := dialect.Facts(&e.Event)
		e.Tool, e.agent = facts.String(neutral.Tool), facts.String(neutral.AgentID)
		e.prompt, e.input = facts.String(neutral.Prompt), facts[neutral.Input]
		for i, one := range ways {
			if list[i].Seen == nil && one.is(e) && (tells || i < len(ways)-2) {
				list[i].Seen, list[i].Try = &stored.Time, ""
			}
		}
		return nil
	})
	for i := len(ways) - 2; i < len(ways) && !tells; i++ {
		list[i].Try = "its hooks are not told whether a person is there"
	}
	if err != nil {
		return nil // of a record that cannot be read, other findings tell
	}
	return append(list, w.rewritten(ctx))
}

// mostWays is how many events are looked at.
const mostWays = 500

// rewritten says whether another input that a hook gave was seen to run.
func (w *way) rewritten(ctx context.Context) Way {
	of := Way{Way: "a rewrite that really ran", Try: "have a hook rewrite a call"}
	if a := dialect.Agent(w.dialect); a == nil || !a.ShowsRun {
		of.Try = "it does not say which input ran: compare the file or the output yourself"
	}
	list, err := w.Client.Decisions(ctx, client.DecisionQuery{
		Agent: string(w.dialect), Decision: "rewrite,disobeyed", Event: "tool.before", Limit: 50,
	})
	if err != nil {
		return of
	}
	for _, d := range list {
		if d.Tried || d.Ran == nil || len(d.Rewrote) == 0 {
			continue
		}
		if d.Ran.Instead != "" {
			of.Bad = "it ran " + d.Ran.Instead
			return of
		}
		if a := dialect.Agent(w.dialect); a != nil && a.ShowsRun {
			of.Seen, of.Try = &d.Ran.Time, ""
		}
		return of
	}
	return of
}

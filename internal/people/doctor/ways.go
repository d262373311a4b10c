package doctor

import (
	"context"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Way is one way in which an agent makes calls, and whether the record has seen hookd asked on it. A probe cannot
// show that: only the agent itself goes these ways.
type Way struct {
	Way  string     `json:"way"`
	Seen *time.Time `json:"seen,omitempty"` // the newest; nil = never, among the events that were looked at
	// Cannot says why Seen is never there: no payload tells of the way, or the agent does not have it.
	Cannot string `json:"cannot,omitempty"`
	Try    string `json:"try,omitempty"` // how to see it
	Bad    string `json:"bad,omitempty"` // the fault of the newest
}

// ways are the ways that are looked for, and how to go them.
var ways = []struct {
	kind     neutral.CallKind
	way, try string
}{
	{neutral.InsideCall, "in a subagent", "have it start a subagent that runs `date`"},
	{neutral.MCPCall, "an MCP server's tool", "have it call a tool of an MCP server"},
	{neutral.BackCall, "in the background", "have it run `sleep 5` in the background"},
	{neutral.LineCall, "a skill's own shell line", "type /NAME of a skill that has a line in !`…`"},
	{neutral.SlashCall, "after a slash command", "type a slash command"},
	{personCall, "with a person", "use it in a terminal"},
	{headlessCall, "headless", "start it with a prompt and no terminal, as in `claude -p`"},
}

// The ways that the bridge tells and no payload.
const (
	personCall   neutral.CallKind = "with a person"
	headlessCall neutral.CallKind = "headless"
)

const (
	untold = "cannot be told from the payload"
	lacked = "it has none"
)

// cannot says why a way is never seen; "" = it can be.
func (w *exam) cannot(kind neutral.CallKind) string {
	if kind == personCall || kind == headlessCall {
		if a := dialect.Agent(w.dialect); a == nil || a.UnattendedFlags == "" && a.Unattended == nil {
			return "its hooks are not told whether a person is there"
		}
		return ""
	}
	for _, c := range dialect.Coverage(w.dialect) {
		if c.Kind == kind && c.Why != "" && !c.Unknown {
			return "not asked: " + c.Why
		}
	}
	return map[string]string{neutral.Untold: untold, neutral.Lacked: lacked}[dialect.Tells(w.dialect, kind)]
}

// came reports whether hookd was asked about a call on the way of a kind by e.
func came(e *events.Event, kind neutral.CallKind) bool {
	if kind == personCall || kind == headlessCall {
		return e.Contract.Kind == events.KindToolBefore && e.Unattended == (kind == headlessCall)
	}
	return dialect.IsOf(e, kind)
}

// waysOf looks at the newest events of the agent, and at its newest rewrites.
func (w *exam) waysOf(ctx context.Context) []Way {
	if w.status == nil {
		return nil
	}
	ctx, cancel := w.ask(ctx)
	defer cancel()
	list := make([]Way, len(ways))
	for i, one := range ways {
		if list[i] = (Way{Way: one.way, Cannot: w.cannot(one.kind)}); list[i].Cannot == "" {
			list[i].Try = one.try
		}
	}
	var while underWay
	query := client.EventQuery{Agent: string(w.dialect), Limit: mostWays}
	err := w.Client.Past(ctx, query, func(stored client.StoredEvent) error {
		row := events.For(stored.Dialect, stored.Event)
		if row == nil || stored.SessionID == Session || stored.Tried {
			return nil
		}
		e := &events.Event{Envelope: events.Received(stored.Envelope), Contract: row}
		while.back(e, stored.Time)
		for i, one := range ways {
			if list[i].Seen == nil && list[i].Cannot == "" && came(e, one.kind) {
				list[i].Seen, list[i].Try = &stored.Time, ""
			}
		}
		return nil
	})
	if err != nil {
		return nil // of a record that cannot be read, other findings tell
	}
	if list[0].Cannot == untold && while.seen != nil {
		list[0].Cannot += "; a call came while one ran, " + while.seen.Local().Format("2006-01-02 15:04")
	}
	return append(list, w.rewritten(ctx))
}

// underWay finds the newest call between the start of a subagent and its end.
type underWay struct {
	running map[string]int // session → its subagents that run
	seen    *time.Time
}

// back takes in the event before the last one.
func (w *underWay) back(e *events.Event, at time.Time) {
	isStart := dialect.Call(e).Tool == "Agent"
	switch {
	case isStart && e.Contract.Kind == events.KindToolAfter:
		if w.running == nil {
			w.running = map[string]int{}
		}
		w.running[e.SessionID]++
	case isStart && e.Contract.Kind == events.KindToolBefore && w.running[e.SessionID] > 0:
		w.running[e.SessionID]--
	case e.Contract.Kind == events.KindToolBefore && w.running[e.SessionID] > 0 && w.seen == nil:
		w.seen = &at
	}
}

// mostWays is how many events are looked at.
const mostWays = 500

// rewritten says whether another input that a hook gave was seen to run.
func (w *exam) rewritten(ctx context.Context) Way {
	of := Way{Way: "a rewrite that really ran", Try: "have a hook rewrite a call"}
	if a := dialect.Agent(w.dialect); a == nil || !a.ShowsRun {
		of.Try, of.Cannot = "", "it does not say which input ran: compare the file or the output yourself"
	}
	list, err := w.Client.Decisions(ctx, client.DecisionQuery{
		Agent: string(w.dialect), Decision: "rewrite,disobeyed", Event: "tool.before", Limit: 50,
	})
	if err != nil {
		return of
	}
	for _, d := range list {
		if heard := d.Told == nil || d.Told.Rewrote; d.Tried || d.Ran == nil || len(d.Rewrote) == 0 || !heard {
			continue
		}
		if d.Ran.Instead != "" {
			of.Bad = "it ran " + d.Ran.Instead
			return of
		}
		if of.Cannot == "" {
			of.Seen, of.Try = &d.Ran.Time, ""
		}
		return of
	}
	return of
}

package doctor

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// CallKind is one kind of call that the agent makes, and whether it reaches hookd.
type CallKind struct {
	Kind    string   `json:"kind"`              // in words, such as "write a file"
	Tool    string   `json:"tool"`              // as the agent calls it; its canonical name where there is no probe
	Event   string   `json:"event,omitempty"`   // that reports it
	Reaches bool     `json:"reaches"`           // the probe came through, and hookd took it for that tool
	Unknown bool     `json:"unknown,omitempty"` // it is not known whether the agent reports it
	Why     string   `json:"why,omitempty"`     // it does not reach hookd, or that is not known
	Hooks   []string `json:"hooks"`             // that match it
	// Seen is when the agent itself last reported a call of that tool, in RFC 3339; never,
	// as far back as the history goes; "" = it cannot be distinguished from other calls.
	Seen string `json:"seen,omitempty"`
}

// calls looks at each kind of call that the agent makes. first is the probe that was
// made of the first kind.
func (w *exam) calls(ctx context.Context, first *Probe) (list []CallKind) {
	if first == nil || w.status == nil {
		return nil
	}
	for i, c := range dialect.Coverage(w.dialect) {
		call := CallKind{
			Kind: string(c.Kind), Tool: c.Tool, Event: c.Probe.Event, Unknown: c.Unknown, Why: c.Why, Hooks: []string{},
		}
		if c.Why == "" {
			p := first
			if i > 0 {
				p = w.send(ctx, c.Probe)
			}
			w.reached(&call, c, p)
		}
		if c.Kind != neutral.InsideCall && c.Kind != neutral.MCPCall && c.Kind != neutral.LineCall {
			call.Seen = w.last(ctx, c.Tool)
		}
		list = append(list, call)
	}
	w.gaps(list)
	return list
}

// reached fills in whether a probe came through.
func (w *exam) reached(call *CallKind, c dialect.Covered, p *Probe) {
	e := &events.Event{
		Envelope: events.Envelope{Event: p.Event, Dialect: w.dialect, Data: p.Payload},
		Contract: events.For(w.dialect, p.Event),
	}
	taken := dialect.ToolNames(e)
	if len(taken) > 0 {
		call.Tool = taken[0]
	}
	switch {
	case w.settings.Events != nil && !slices.Contains(w.settings.Events, p.Event):
		call.Why = "the agent's settings do not call hookd for " + p.Event
	case !w.registeredFor(p.Event, taken):
		only := strings.Join(w.settings.Only[p.Event], ", ")
		call.Why = "the agent's settings call hookd for other tools alone: " + only
	case p.EventID == "":
		call.Why = strings.TrimSpace("hookd did not get " + p.Event + " " + p.Stderr)
	default:
		call.Reaches, call.Hooks = true, p.matching()
	}
}

// registeredFor reports whether the agent's settings call hookd for a tool: a matcher is
// a name, a list of names or a regular expression, as in Claude Code.
func (w *exam) registeredFor(event string, tools []string) bool {
	only := w.settings.Only[event]
	if len(only) == 0 || slices.Contains(only, "") || len(tools) == 0 {
		return true
	}
	return slices.ContainsFunc(only, func(matcher string) bool {
		names := strings.FieldsFunc(matcher, func(r rune) bool { return strings.ContainsRune("|, ", r) })
		if slices.Contains(names, tools[0]) {
			return true
		}
		re, err := regexp.Compile("^(?:" + matcher + ")$")
		return err != nil || re.MatchString(tools[0]) // what cannot be read here is the agent's to judge
	})
}

// last returns when the agent last reported a call of a tool in a session of its own.
func (w *exam) last(ctx context.Context, tool string) string {
	ctx, cancel := w.ask(ctx)
	defer cancel()
	list, err := w.Client.Accepted(ctx, client.EventQuery{Agent: string(w.dialect), Tool: tool, Limit: 50})
	if err != nil {
		return ""
	}
	for _, e := range list {
		if e.SessionID != Session && !e.Tried {
			return e.Time.Format(time.RFC3339)
		}
	}
	return "never"
}

// gaps reports the kinds of call that do not reach hookd.
func (w *exam) gaps(list []CallKind) {
	for _, c := range list {
		switch {
		case c.Why == "" || c.Kind == list[0].Kind: // which the probe itself reports
		case c.Event == "":
			w.say("calls", Note, "hookd events --dialect "+string(w.dialect), "%s: %s", c.Kind, c.Why)
		default:
			w.say("calls", Problem, w.o.Again, "%s (%s) does not reach hookd: %s", c.Kind, c.Tool, c.Why)
		}
	}
}

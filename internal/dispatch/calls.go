package dispatch

import (
	"cmp"
	"encoding/json"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// calls knows the tool calls of agents: which of them hookd was asked about, and how it answered.
// It gives the events of one call the same id, for agents that tell none: the id of the event before
// the call. The event after it is known by session, tool and input; where hooks may have changed the
// input, by the tool alone. The zero value is ready.
type calls struct {
	mu     sync.Mutex // guards all below, and what is in a call
	seed   maphash.Seed
	recent map[callOf][]*call // oldest first
	older  map[callOf][]*call // those before
	count  int                // in recent
	missed []missed           // oldest first
}

// missed is a call that hookd was not asked about: its result has come, or the rest of its bridge.
type missed struct {
	of     callOf
	tool   string
	input  uint64
	result bool
}

// callOf has the facts that the events of a call share.
type callOf struct {
	dialect           events.Dialect
	session, tool, id string // tool is "" where the agent tells an id, and id where it does not
}

// call is one tool call that hookd was told of before it ran.
type call struct {
	id    string
	event string // event_id of the event before it
	seq   uint64 // of that event, where a decision about it is on record; else 0
	tool  string // its canonical name
	ended bool   // its result has come

	input      uint64   // hash of what was asked about
	denied     bool     // as its agent heard it
	reason     string   // of the denial
	changed    []change // of its input, by hooks
	command    []change // the line that hookd was asked about; nil = it is not compared with the line that ran
	guessed    bool     // results of other calls may be taken for its own: nothing is said of its input
	unanswered bool     // hookd was killed before it had answered
	told       bool     // it is on record that its agent did not obey
}

// change is one member of an input that hooks have changed.
type change struct {
	name    string
	was, is string // JSON; cut, and nothing else is compared with them then
}

// Bounds: how many calls are remembered in one of two lists, and how long a changed member is.
const (
	mostCalls   = 4096
	mostAlike   = 64 // of one session and tool, beyond which ended ones are forgotten
	mostMissed  = 256
	changeBytes = 4 << 10
)

// note returns the id of the call that e is about, and the call, as far as both are known: nil of an
// event after a call that hookd was not told of.
func (c *calls) note(e *events.Event) (id string, about *call) {
	id, input := dialect.CallIDAndInput(e)
	of := callOf{dialect: e.Dialect, session: e.SessionID, tool: e.Tool, id: id}
	switch {
	case id != "":
		of.tool = "" // which some agents call otherwise in another event
	case e.SessionID == "" || e.Tool == "":
		return "", nil
	}
	var command []change
	if id != "" && e.Contract.Kind == events.KindToolBefore {
		command = commandOf(e)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.recent == nil {
		c.seed, c.recent = maphash.MakeSeed(), map[callOf][]*call{}
	}
	hash := maphash.Bytes(c.seed, input)
	switch e.Contract.Kind {
	case events.KindToolBefore:
		about = &call{id: cmp.Or(id, e.EventID), event: e.EventID, tool: e.Tool, input: hash, command: command}
		c.add(of, about)
	case events.KindToolAfter:
		var sure bool
		if about, sure = c.find(of, e, hash); about != nil {
			if !sure {
				c.guess(of, e.Tool)
			}
			if about.ended { // the id is counted again, or the result comes twice
				about.command = nil
			}
			about.ended = true
		}
	default:
		about, _ = c.find(of, e, hash)
	}
	if about != nil {
		id = about.id
	}
	return id, about
}

// add remembers a call. Of many that share so much, it forgets the ended ones: whenever their number has doubled, as
// an agent that sends no results ends none.
func (c *calls) add(of callOf, about *call) {
	if c.count >= mostCalls {
		c.forgetOld()
	}
	list := append(c.recent[of], about)
	if n := len(list); n > mostAlike && n&(n-1) == 0 {
		old := slices.DeleteFunc(slices.Clone(list[:n/2]), func(a *call) bool { return a.ended || a.denied })
		list = append(old, list[n/2:]...)
		c.count -= n - len(list)
	}
	c.recent[of] = list
	c.count++
}

// forgetOld forgets the older calls, except calls that may still run.
func (c *calls) forgetOld() {
	kept, n := map[callOf][]*call{}, 0
	for of, list := range c.older {
		for _, about := range list {
			if !about.ended && !about.denied && n < mostCalls/2 {
				kept[of], n = append(kept[of], about), n+1
			}
		}
	}
	c.older, c.recent, c.count = c.recent, kept, n
}

// find returns the call of an event after it, in this order: of the running calls, a call with the same input, a
// call with this input from hooks, any other that hooks have changed, any at all, as agents may write an input in
// another way; then a call with this input that was denied or has a result. Of an id's calls another than all of
// these is known, too: agents may count from 1 again. sure is false where other running calls may fit as well.
// nil = none.
func (c *calls) find(of callOf, e *events.Event, input uint64) (about *call, sure bool) {
	list := slices.Concat(c.older[of], c.recent[of])
	runs := func(a *call) bool { return a.tool == e.Tool && !a.ended && !a.denied }
	ran := sync.OnceValue(func() json.RawMessage { return dialect.Call(e).Input })
	for _, by := range []struct {
		sure bool
		fits func(a *call) bool
	}{
		{true, func(a *call) bool { return runs(a) && a.input == input }},
		{true, func(a *call) bool { return runs(a) && a.changed != nil && ranAs(ran(), a.changed, sameText) }},
		{false, func(a *call) bool { return runs(a) && a.changed != nil && ranAs(ran(), a.changed, overlap) }},
		{false, func(a *call) bool { return runs(a) && a.changed != nil }},
		{true, func(a *call) bool { return a.tool == e.Tool && !a.ended && a.input == input }},
		{false, runs},
		{true, func(a *call) bool { return a.tool == e.Tool && a.input == input }},
		{true, func(a *call) bool { return a.tool == e.Tool && of.id != "" }},
	} {
		if at := slices.IndexFunc(list, by.fits); at >= 0 {
			return list[at], by.sure
		}
	}
	if len(list) > 0 && of.id != "" {
		return &call{id: of.id}, true // of another tool: nothing is known of its answer
	}
	return nil, true
}

// guess marks the running calls of a tool, if there are several: the result of any may be taken for another's.
func (c *calls) guess(of callOf, tool string) {
	list := slices.DeleteFunc(slices.Concat(c.older[of], c.recent[of]), func(a *call) bool {
		return a.tool != tool || a.ended || a.denied
	})
	for _, a := range list {
		a.guessed = len(list) > 1 || a.guessed
	}
}

// miss notes a call that hookd was not asked about. known says that it was noted already, by the other one of its
// result and the rest of its bridge, or that it was asked about after all.
func (c *calls) miss(e *events.Event) (known bool) {
	id, input := dialect.CallIDAndInput(e)
	of := callOf{dialect: e.Dialect, session: e.SessionID, tool: e.Tool, id: id}
	if id != "" {
		of.tool = ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.recent == nil {
		c.seed, c.recent = maphash.MakeSeed(), map[callOf][]*call{}
	}
	m := missed{of: of, tool: e.Tool, result: e.Contract.Kind == events.KindToolAfter}
	m.input = maphash.Bytes(c.seed, input)
	is := func(o missed) bool { return o.of == m.of && o.result != m.result && (id != "" || o.input == m.input) }
	if i := slices.IndexFunc(c.missed, is); i >= 0 {
		c.missed = slices.Delete(c.missed, i, i+1)
		return true
	}
	if !m.result && id != "" {
		if about, _ := c.find(of, e, m.input); about != nil {
			return true
		}
	}
	if c.missed = append(c.missed, m); len(c.missed) > mostMissed {
		c.missed = slices.Delete(c.missed, 0, 1)
	}
	return false
}

// decided notes the decision about a call, and again when it is known which decision its agent heard.
func (c *calls) decided(about *call, rec *wire.Decision, changed []change) {
	if about == nil || rec.Kind != events.KindToolBefore {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	about.seq, about.denied, about.reason = rec.EventSeq, rec.Decision == wire.OutcomeDeny, rec.Reason
	if rec.Told != nil && rec.Told.Reason != "" {
		about.reason = rec.Told.Reason
	}
	// Some agents hear of another input with an approval alone.
	heard := rec.Told == nil || rec.Told.Rewrote || rec.Told.Unsure != ""
	if about.changed = nil; heard && !about.denied && slices.Contains(rec.Rewrote, "input") {
		about.changed = changed
	}
}

// firstTold reports whether it is the first time that a call's agent did not obey: some report a result twice.
func (c *calls) firstTold(about *call) (first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first, about.told = !about.told, true
	return first
}

// of returns a copy of a call; the zero call for nil.
func (c *calls) of(about *call) call {
	if about == nil {
		return call{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return *about
}

// changes returns the members of the input of e's call that differ from those in input, which has
// the names that its agent uses.
func changes(e *events.Event, input json.RawMessage) (list []change) {
	if e.Contract.Target == "" {
		return nil
	}
	now := *e
	now.Data = rawjson.With(e.Data, rawjson.Member{Key: e.Contract.Target, Value: input})
	was := maps.Collect(rawjson.Members(dialect.Call(e).Input))
	for name, is := range rawjson.Members(dialect.Call(&now).Input) {
		if string(was[name]) != string(is) && len(is) <= changeBytes && len(was[name]) <= changeBytes {
			list = append(list, change{name, string(was[name]), string(is)})
		}
	}
	return list
}

// commandOf is the line that a call runs, as if hooks had given it: its result must be about that line, or a part.
// nil = the result of the call does not show it.
func commandOf(e *events.Event) []change {
	if agent := dialect.Agent(e.Dialect); e.Tool != neutral.Shell || agent == nil || !agent.ShowsRun {
		return nil
	}
	line := string(rawjson.Get(dialect.Call(e).Input, "command"))
	if line == "" || len(line) > mostCompared {
		return nil
	}
	return []change{{"command", line, line}}
}

// mostCompared is how long a line is, in bytes, that is kept to be compared with the line that ran.
const mostCompared = 512

// other reports whether the call behind the result e ran with another input than hookd answered for: with the old one,
// or with a text that does not overlap the new one.
func other(e *events.Event, changed []change) bool {
	ran := dialect.Call(e).Input
	return slices.ContainsFunc(changed, func(ch change) bool {
		now := rawjson.Get(ran, ch.name)
		return now != nil && string(now) != ch.is && (string(now) == ch.was || !overlap(now, json.RawMessage(ch.is)))
	})
}

// ranAs reports whether an input has every change of hooks, as like compares two values.
func ranAs(ran json.RawMessage, changed []change, like func(now, is json.RawMessage) bool) bool {
	return !slices.ContainsFunc(changed, func(ch change) bool {
		now := rawjson.Get(ran, ch.name)
		return now == nil || !like(now, json.RawMessage(ch.is))
	})
}

// sameText reports whether two values are the same text without regard to blanks, or the same JSON.
func sameText(now, is json.RawMessage) bool {
	text := words(now)
	return string(now) == string(is) || text != "" && text == words(is)
}

// overlap reports whether one of two texts contains the other. A value without text overlaps everything.
func overlap(now, is json.RawMessage) bool {
	text, want := words(now), words(is)
	return text == "" || want == "" || strings.Contains(text, want) || strings.Contains(want, text)
}

// words is the text that v is, with single blanks; "" if it is none.
func words(v json.RawMessage) string { return strings.Join(strings.Fields(neutral.TextOf(v)), " ") }

// refusals begin a result which says that the call did not run.
var refusals = []string{"denied", "blocked", "rejected", "refused", "cancel", "abort", "interrupt", "permission", "not allowed", "hook"}

// refused reports whether a result says of itself that the call did not run: it has the reason that
// its agent was told, or is a failure in such words.
func refused(r dialect.ToolResult, reason string) bool {
	text := plainly(r.Text)
	reason = plainly(reason)
	if n := 60; len(reason) > n {
		reason = reason[:n]
	}
	if reason != "" && strings.Contains(text, reason) {
		return true
	}
	says := func(word string) bool { return strings.Contains(text, word) }
	return r.Failed && (text == "" || slices.ContainsFunc(refusals, says))
}

// plainly is a text in lower case, with single blanks and without JSON's escapes: a result may be an object.
func plainly(text string) string {
	return strings.ToLower(strings.Join(strings.Fields(escapes.Replace(text)), " "))
}

var escapes = strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, " ", `\"`, `"`, `\\`, `\`)

// longCall is how long a call runs at most that hookd was asked about before it was started again.
const longCall = 30 * time.Minute

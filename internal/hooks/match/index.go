// Package match finds the hooks that run for an event. It is pure: it reads no
// file, starts nothing and never blocks, and the same snapshot and event always
// give the same hooks, in the order in which they are registered. The one thing that it
// asks for elsewhere is where a link leads that a condition is about, see package when.
//
// It does not decide when they run, or about the joint meaning of their answers.
package match

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/when"
)

// Match is a hook that runs for an event.
type Match struct {
	Hook       *hook.Hook
	Rules      *neutral.Rules   // of the hook
	Given      string           // the event name it gets
	Reads      *events.Contract // how its answer is read; nil = by the emitted event's row
	Words      []verdict.Word   // that its answer may have besides the common ones
	Blocks     bool             // its answer counts
	Shadow     bool             // its answer would count, were the hook not in the shadow
	Generation uint64           // of the snapshot
	At         int              // place among the event's hooks

	Below bool // a policy decides such events, and this is no hook of it

	// Unfit is why its conditions do not fit the event as it is now. It is only set
	// where a hook before it may rewrite the event so that they fit.
	Unfit string
}

// Enforced returns the match as it were if the hook were not in the shadow.
func (m Match) Enforced() Match {
	m.Blocks = m.Blocks || m.Shadow
	return m
}

// Terms returns how the hook's definition treats its answers.
func (m Match) Terms() verdict.Terms {
	return verdict.Terms{
		Name: m.Hook.Name, Called: m.Hook.Called, Blocking: m.Blocks,
		OnError:      string(cmp.Or(m.Hook.OnError, hook.OnErrorWarn)),
		OnErrorAlone: m.Hook.OnErrorAlone,
		StrictOutput: m.Hook.StrictOutput, Words: m.Words,
		TightenOnly: m.Below || m.Hook.Layer == hook.LayerProject,
	}
}

// Reading returns the contract by which the hook's answer to an event of c is read;
// nil = its stdout is not an answer. Observers of a decidable event are read, too: one
// with an invalid answer may be a guard that was meant to block.
func (m Match) Reading(c *events.Contract) *events.Contract {
	if m.Reads != nil {
		c = m.Reads
	}
	if !c.Decidable {
		return nil
	}
	return c
}

// Index finds the hooks of an event. The part that depends only on the event's name is computed
// once for each name; the rest (agent, matcher, filters) is checked for each event.
type Index struct {
	snapshot *hook.Snapshot
	hooks    []*hook.Hook
	patterns patterns
	links    when.Links
	senders  map[*hook.Hook]*hook.Hook // of hooks that run on other machines, too; nil = there are none
	projects bool                      // some hooks are for one working tree

	// last is the name that was asked for last: a sender of many events repeats itself, and the map
	// costs four times as long.
	last   atomic.Pointer[named]
	mu     sync.RWMutex // guards byName
	byName map[nameKey]*named
}

type nameKey struct {
	dialect events.Dialect
	name    string
}

// named is an entry of the cache.
type named struct {
	nameKey
	Named
}

// Named has the values that depend on an event's name and dialect.
type Named struct {
	Contract   *events.Contract
	links      when.Links
	fleet      bool    // hooks of scope fleet run for what the fleet brings alone
	candidates []Match // hooks with a pattern that matches a name of the kind
}

// maxNames bounds the cache: senders choose the names.
const maxNames = 4096

// Options of an Index. The zero Options are those of a machine of no fleet.
type Options struct {
	// Links finds where paths lead that hooks have conditions on; nil = that is not known.
	Links when.Links
	Fleet bool // hooks that are not local have their events sent to the fleet
}

// New makes the index of a snapshot.
func New(snap *hook.Snapshot, o Options) *Index {
	hooks := snap.Runnable()
	ix := &Index{
		snapshot: snap, hooks: hooks, patterns: newPatterns(hooks), links: o.Links, byName: map[nameKey]*named{},
	}
	ix.projects = slices.ContainsFunc(hooks, func(h *hook.Hook) bool { return h.Project != "" })
	if o.Fleet {
		ix.senders = map[*hook.Hook]*hook.Hook{}
		for _, h := range hooks {
			if h.Scope != hook.ScopeLocal {
				ix.senders[h] = h.Sender()
			}
		}
	}
	return ix
}

// Projects reports whether the project of an event matters.
func (ix *Index) Projects() bool { return ix.projects }

// Snapshot returns the snapshot of the index.
func (ix *Index) Snapshot() *hook.Snapshot { return ix.snapshot }

// Match returns the hooks that run for e, in registration order.
func (ix *Index) Match(e *events.Event) []Match {
	return ix.Named(e.Contract.Dialect, e.Contract.Name).Match(e)
}

// Match returns the hooks that run for e, which has the name, in registration
// order.
func (n *Named) Match(e *events.Event) []Match {
	var ms []Match
	var facts *when.Facts
	var tools toolNames
	rewritten := false // by a hook so far, maybe
	governed := false  // by a policy, whose hooks come first; conditions may fit what a rewrite makes of the event
	for _, m := range n.candidates {
		m, ok := m.suiting(e)
		if !ok || !n.here(m.Hook, e) || m.refusal(e, &tools) != "" {
			continue
		}
		governed = governed || m.Hook.Layer.Signed() && m.Blocks
		m.Below = governed && !m.Hook.Layer.Signed()
		if len(m.Hook.When) > 0 {
			if facts == nil {
				facts = when.New(e, n.links)
			}
			m.Unfit = facts.Unfit(m.Hook.When, m.Given)
		}
		if m.Unfit == "" || rewritten && (m.Blocks || m.Shadow) {
			m.At = len(ms)
			ms = append(ms, m)
			rewritten = rewritten || m.Blocks && e.Wait && e.Contract.Sequence
		}
	}
	return ms
}

// here reports whether the hook runs on this machine for e. A hook that sends to the fleet runs
// only for events of this machine. A hook that the fleet brings events for runs only for those.
func (n *Named) here(h *hook.Hook, e *events.Event) bool {
	switch {
	case h.Type == hook.Send:
		return e.Machine == ""
	case e.Machine != "":
		return h.Scope != hook.ScopeLocal
	}
	return h.Scope != hook.ScopeFleet || !n.fleet
}

// Fits reports whether the conditions of the hook fit e, as hooks before it have
// rewritten that.
func (ix *Index) Fits(m Match, e *events.Event) bool {
	return when.New(e, ix.links).Unfit(m.Hook.When, m.Given) == ""
}

// Named returns the hooks of a name, from the cache if they are in it.
func (ix *Index) Named(dialect events.Dialect, name string) *Named {
	key := nameKey{dialect, name}
	if last := ix.last.Load(); last != nil && last.nameKey == key {
		return &last.Named
	}
	ix.mu.RLock()
	found := ix.byName[key]
	ix.mu.RUnlock()
	if found == nil {
		found = &named{key, ix.find(events.For(dialect, name))}
		ix.remember(found)
	}
	ix.last.Store(found)
	return &found.Named
}

func (ix *Index) remember(n *named) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if len(ix.byName) >= maxNames {
		clear(ix.byName)
	}
	ix.byName[n.nameKey] = n
}

func (ix *Index) find(c *events.Contract) Named {
	n := Named{Contract: c, links: ix.links, fleet: ix.senders != nil}
	names := kindNames(c)
	for _, at := range ix.patterns.hooksFor(names) {
		if m, ok := matchNames(ix.hooks[at], c, names); ok {
			m.Generation = ix.snapshot.Generation
			n.candidates = append(n.candidates, m)
			if sender := ix.senders[m.Hook]; sender != nil {
				m.Hook = sender
				n.candidates = append(n.candidates, m)
			}
		}
	}
	return n
}

// kindNames returns every row whose name a hook may get for the event: the emitted one
// first, and last the rows that a hook gets only if no other matches.
func kindNames(c *events.Contract) []*events.Contract {
	names := []*events.Contract{c}
	var observed []*events.Contract
	for _, other := range c.Aliases() {
		switch {
		case other.Name == c.Name:
		case dialect.Observed(other.Name) != nil:
			observed = append(observed, other)
		default:
			names = append(names, other)
		}
	}
	return append(names, observed...)
}

// matchNames chooses the name that h gets: the emitted one if a pattern matches it;
// else the first other name in the order of h's patterns; else one of the last. hookd's
// own events reach only patterns that name them.
func matchNames(h *hook.Hook, emitted *events.Contract, names []*events.Contract) (Match, bool) {
	as := func(name string, p pattern.Pattern) Match {
		blocks := h.Blocks(emitted, p)
		return Match{
			Hook: h, Rules: dialect.Rules(h.Dialect), Given: name, Words: dialect.Words(emitted, name),
			Blocks: blocks && !h.Shadow, Shadow: blocks && h.Shadow,
		}
	}
	if p, ok := patternFor(h, emitted); ok {
		return as(emitted.Name, p), true
	}
	for _, observed := range []bool{false, true} {
		for _, p := range h.Patterns {
			for _, c := range names[1:] {
				row := dialect.Observed(c.Name)
				if (row != nil) != observed || !reaches(p, c) {
					continue
				}
				m := as(c.Name, p)
				if observed { // it blocks only if that row is decidable
					m.Reads, m.Blocks, m.Shadow = row, m.Blocks && row.Decidable, m.Shadow && row.Decidable
				}
				return m, true
			}
		}
	}
	return Match{}, false
}

// patternFor returns the pattern of h that matches c's name. It prefers an exact one,
// because the hook then blocks.
func patternFor(h *hook.Hook, c *events.Contract) (found pattern.Pattern, ok bool) {
	for _, p := range h.Patterns {
		if reaches(p, c) && (!ok || !found.Exact() && p.Exact()) {
			found, ok = p, true
		}
	}
	return found, ok
}

func reaches(p pattern.Pattern, c *events.Contract) bool {
	if c.Dialect == events.Hookd && !p.Reserved() {
		return false
	}
	return p.Match(c.Name)
}

// refusal returns why the hook does not run for e although a pattern matches, in the
// words of `hookd match`; "" = it runs.
func (m Match) refusal(e *events.Event, tools *toolNames) string {
	h := m.Hook
	if h.Project != "" && e.Project != h.Project {
		return "it is for events of " + h.Project + ", and this is of " + cmp.Or(e.Project, "no project")
	}
	if agent := m.Rules.Agent(e); h.Agent != "" && agent != h.Agent {
		return "it belongs to agent " + strconv.Quote(h.Agent) + ", the event to " + strconv.Quote(agent)
	}
	if e.Lane != "" && e.Lane != Lane(h) {
		return "it is in the " + Lane(h) + " lane, the event asks for " + e.Lane
	}
	if h.Type == hook.Spawn && e.Depth > 0 {
		return "an agent action does not start from within a hook"
	}
	s := hook.Subject{Cwd: m.Rules.Place(e), AgentName: e.AgentName, Dialect: string(e.Dialect)}
	if h.AsksForTool() {
		s.Tools = tools.of(e)
	}
	why, _ := h.Admits(s)
	return why
}

// toolNames are those of an event's tool, which are looked up when a hook first asks for
// them.
type toolNames struct {
	known bool
	list  []string
}

func (n *toolNames) of(e *events.Event) []string {
	if !n.known {
		n.known, n.list = true, dialect.ToolNames(e)
	}
	return n.list
}

// Lane returns the lane of a hook that blocks.
func Lane(h *hook.Hook) string {
	if h.Lane == events.LanePreempt {
		return events.LanePreempt
	}
	return events.LaneDefault
}

// Explanation says whether a hook runs for an event, for `hookd match`.
type Explanation struct {
	Hook   *hook.Hook
	Runs   bool
	Why    string // when it does not run
	Fitted string // when it runs: what its conditions have found; "" = it has none
	Given  string // the event name it would get
	Role   string // observers, shadow, decidable, or decidable (preempt)
	Blocks bool   // its answer counts
}

// Explain returns for each runnable hook of snap whether it runs for an event of the
// project that is sent with wait, in registration order. links is as for New.
func Explain(snap *hook.Snapshot, env events.Envelope, project string, links when.Links) []Explanation {
	e := &events.Event{Envelope: env, Contract: events.For(env.Dialect, env.Event), Project: project}
	e.Dialect, e.Wait = cmp.Or(e.Dialect, e.Contract.Dialect), true
	names, facts := kindNames(e.Contract), when.New(e, links)
	var list []Explanation
	for _, h := range snap.Runnable() {
		m, ok := matchNames(h, e.Contract, names)
		suits := false
		if ok {
			m, suits = m.suiting(e)
		}
		d := Explanation{Hook: h, Given: m.Given, Blocks: m.Blocks, Role: role(m)}
		switch {
		case !ok:
			d.Why = "no pattern matches " + e.Contract.Name + " or another name of its kind"
		case !suits:
			d.Why = noCase
		default:
			d.Why = cmp.Or(m.refusal(e, &toolNames{}), facts.Unfit(h.When, m.Given))
		}
		if d.Runs = d.Why == ""; d.Runs {
			d.Fitted = facts.Fitted(h.When, m.Given)
		}
		list = append(list, d)
	}
	return list
}

func role(m Match) string {
	switch {
	case m.Shadow:
		return "shadow"
	case !m.Blocks && m.Hook != nil && m.Hook.Scope != hook.ScopeLocal:
		return "observers (" + m.Hook.Scope.Text() + ")"
	case !m.Blocks:
		return "observers"
	case Lane(m.Hook) == events.LanePreempt:
		return "decidable (preempt)"
	default:
		return "decidable"
	}
}

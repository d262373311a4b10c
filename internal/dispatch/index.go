package dispatch

import (
	"cmp"
	"strconv"
	"sync"

	"github.com/hookd/hookd/internal/dialect"
	"github.com/hookd/hookd/internal/dialect/dockeragent"
	"github.com/hookd/hookd/internal/dialect/familiar"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
)

// match is a hook that runs for an event.
type match struct {
	hook       *hook.Hook
	given      string           // the event name it is given
	reads      *events.Contract // how its answer is read; nil = as the emitted event has it
	blocks     bool             // its answer counts
	generation uint64
	at         int // place among the event's hooks
}

// index finds the hooks of an event. What depends on the event's name alone is
// computed once a name; the rest (agent, matcher, filters) is checked an event.
type index struct {
	snapshot *hook.Snapshot
	hooks    []*hook.Hook
	patterns patterns

	mu     sync.RWMutex // guards byName
	byName map[nameKey]*named
}

type nameKey struct {
	dialect events.Dialect
	name    string
}

// named is what depends on an event's name, and the dialect it was sent in.
type named struct {
	contract   *events.Contract
	candidates []match // hooks with a pattern that matches a name of the kind
}

// maxNames bounds the cache: names are the senders' to choose.
const maxNames = 4096

func newIndex(snap *hook.Snapshot) *index {
	hooks := snap.Runnable()
	return &index{snapshot: snap, hooks: hooks, patterns: newPatterns(hooks), byName: map[nameKey]*named{}}
}

// match returns the hooks that run for e, in registration order.
func (ix *index) match(e *events.Event) []match {
	return ix.named(e.Contract.Dialect, e.Contract.Name).match(e)
}

func (n *named) match(e *events.Event) []match {
	var ms []match
	for _, m := range n.candidates {
		m, ok := m.suiting(e)
		if ok && refuses(m.hook, e) == "" {
			m.at = len(ms)
			ms = append(ms, m)
		}
	}
	return ms
}

// named returns what is known of a name.
func (ix *index) named(dialect events.Dialect, name string) *named {
	key := nameKey{dialect, name}
	ix.mu.RLock()
	found := ix.byName[key]
	ix.mu.RUnlock()
	if found != nil {
		return found
	}
	found = ix.find(events.For(dialect, name))
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if len(ix.byName) >= maxNames {
		clear(ix.byName)
	}
	ix.byName[key] = found
	return found
}

func (ix *index) find(c *events.Contract) *named {
	n := &named{contract: c}
	names := kindNames(c)
	for _, at := range ix.patterns.hooksFor(names) {
		if m, ok := matchNames(ix.hooks[at], c, names); ok {
			m.generation = ix.snapshot.Generation
			n.candidates = append(n.candidates, m)
		}
	}
	return n
}

// kindNames returns every row whose name the event goes by, the emitted one first
// and LibreFang's last, because a hook is given a LibreFang name only when no
// other fits (SPEC section 6).
func kindNames(c *events.Contract) []*events.Contract {
	names := []*events.Contract{c}
	var librefang []*events.Contract
	for _, other := range c.Aliases() {
		switch {
		case other.Name == c.Name:
		case ofLibreFang(other):
			librefang = append(librefang, other)
		default:
			names = append(names, other)
		}
	}
	return append(names, librefang...)
}

// matchNames picks the name that h is given: the emitted one if a pattern
// matches it; else the first other name in the order of h's patterns; else
// LibreFang's. hookd's own events reach only patterns that ask for them.
func matchNames(h *hook.Hook, emitted *events.Contract, names []*events.Contract) (match, bool) {
	if p, ok := patternFor(h, emitted); ok {
		return match{hook: h, given: emitted.Name, blocks: h.Blocks(emitted, p)}, true
	}
	for _, librefang := range []bool{false, true} {
		for _, p := range h.Patterns {
			for _, c := range names[1:] {
				if ofLibreFang(c) != librefang || !reaches(p, c) {
					continue
				}
				m := match{hook: h, given: c.Name, blocks: h.Blocks(emitted, p)}
				if librefang { // its hooks observe, but for transform_tool_result
					m.reads = events.LookupIn(events.LibreFang, c.Name)
					m.blocks = m.blocks && m.reads.Decidable
				}
				return m, true
			}
		}
	}
	return match{}, false
}

// ofLibreFang reports whether the name is one of LibreFang's; Hermes shares some.
func ofLibreFang(c *events.Contract) bool { return events.LookupIn(events.LibreFang, c.Name) != nil }

// patternFor returns the pattern of h that matches c's name, an exact one if
// there is one, because exactness decides whether the hook blocks.
func patternFor(h *hook.Hook, c *events.Contract) (found hook.Pattern, ok bool) {
	for _, p := range h.Patterns {
		if reaches(p, c) && (!ok || !found.Exact() && p.Exact()) {
			found, ok = p, true
		}
	}
	return found, ok
}

func reaches(p hook.Pattern, c *events.Contract) bool {
	if c.Dialect == events.Hookd && !p.Reserved() {
		return false
	}
	return p.Match(c.Name)
}

// refuses says why h does not run for e although a pattern matches, in words
// for `hookd match`; "" = it runs.
func refuses(h *hook.Hook, e *events.Event) string {
	agent, cwd := dockeragent.Agent(e), e.Cwd
	if h.Dialect == events.Familiar {
		agent, cwd = familiar.Agent(e), familiar.Workspace(e)
	}
	if h.Agent != "" && agent != h.Agent {
		return "it belongs to agent " + strconv.Quote(h.Agent) + ", the event to " + strconv.Quote(agent)
	}
	if e.Lane != "" && e.Lane != laneOf(h) {
		return "it stands in the " + laneOf(h) + " lane, the event asks for " + e.Lane
	}
	if h.Type == hook.Spawn && e.Depth > 0 {
		return "an agent action does not start from within a hook"
	}
	why, _ := h.Admits(hook.Subject{Tools: dialect.ToolNames(e), Cwd: cwd, AgentName: e.AgentName, Dialect: string(e.Dialect)})
	return why
}

func laneOf(h *hook.Hook) string {
	if h.Lane == events.LanePreempt {
		return events.LanePreempt
	}
	return events.LaneDefault
}

// Decision says whether a hook runs for an event, for `hookd match`.
type Decision struct {
	Hook   *hook.Hook
	Runs   bool
	Why    string // when it does not run
	Given  string // the event name it would be given
	Lane   string // observers, decidable, or decidable (preempt)
	Blocks bool   // its answer counts
}

// Explain says for every runnable hook of snap whether it runs for an event
// that is sent with wait, in registration order.
func Explain(snap *hook.Snapshot, env events.Envelope) []Decision {
	e := &events.Event{Envelope: env, Contract: events.For(env.Dialect, env.Event)}
	e.Dialect, e.Wait = cmp.Or(e.Dialect, e.Contract.Dialect), true
	names := kindNames(e.Contract)
	var list []Decision
	for _, h := range snap.Runnable() {
		m, ok := matchNames(h, e.Contract, names)
		suits := false
		if ok {
			m, suits = m.suiting(e)
		}
		d := Decision{Hook: h, Given: m.given, Blocks: m.blocks, Lane: laneName(m)}
		switch {
		case !ok:
			d.Why = "no pattern matches " + e.Contract.Name + " or another name of its kind"
		case !suits:
			d.Why = noCase
		default:
			d.Why = refuses(h, e)
		}
		d.Runs = d.Why == ""
		list = append(list, d)
	}
	return list
}

func laneName(m match) string {
	switch {
	case !m.blocks:
		return "observers"
	case laneOf(m.hook) == events.LanePreempt:
		return "decidable (preempt)"
	default:
		return "decidable"
	}
}

package dispatch

import (
	"slices"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match"
	"github.com/hookd/hookd/wire"
)

// plan splits the hooks that match one event by the way their runs go.
type plan struct {
	matched  []match.Match // all, in registration order
	deciding []match.Match // their answers make the verdict that the sender waits for
	shadows  []match.Match // what they would have decided is recorded with the decision
	nested   []match.Match // observers that a hook waits for, see startNested
	queued   []match.Match // the observers' queue
	later    []match.Match // observers that an earlier deciding hook of their file may stop
}

func newPlan(e *events.Event, matched []match.Match) plan {
	p := plan{matched: dedupe(matched)}
	for _, m := range p.matched {
		switch {
		case e.Wait && e.Contract.Decidable && m.Shadow:
			p.shadows = append(p.shadows, m)
		case m.Unfit != "": // until a hook before it makes it fit
			p.deciding = append(p.deciding, m)
		case e.Wait && e.Contract.Decidable && m.Blocks:
			p.deciding = append(p.deciding, m)
		case e.Wait && !e.Contract.Decidable && e.Depth > 0:
			p.nested = append(p.nested, m)
		case chained(m) && p.decides(m.Hook.Source):
			p.later = append(p.later, m)
		default:
			p.queued = append(p.queued, m)
		}
	}
	p.matched = slices.DeleteFunc(p.matched, func(m match.Match) bool { return m.Unfit != "" })
	return p
}

// judges reports whether there is a decision to record.
func (p plan) judges() bool { return len(p.deciding) > 0 || len(p.shadows) > 0 }

func (p plan) decides(s hook.Source) bool {
	return slices.ContainsFunc(p.deciding, func(m match.Match) bool { return m.Hook.Source == s })
}

// tasks makes the queued runs. results receives the run of each when the
// sender waits for observers; it never blocks them.
func (p plan) tasks(e *events.Event) (tasks []*task, results chan wire.Run) {
	if e.Wait && !e.Contract.Decidable {
		results = make(chan wire.Run, len(p.matched))
	}
	for _, m := range p.queued {
		tasks = append(tasks, &task{event: e, match: m, result: results})
	}
	return tasks, results
}

// dedupe keeps the first of identical definitions, as docker-agent does.
func dedupe(ms []match.Match) []match.Match {
	if len(ms) < 2 {
		return ms
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(ms, func(m match.Match) bool {
		id := m.Hook.Definition
		if id == "" {
			return false
		}
		again := seen[id]
		seen[id] = true
		return again
	})
}

func names(ms []match.Match) []string {
	list := make([]string, len(ms))
	for i, m := range ms {
		list[i] = m.Hook.Name
	}
	return list
}

// chained reports whether an abort of an earlier hook of the same file stops
// this one.
func chained(m match.Match) bool { return m.Rules.Chained }

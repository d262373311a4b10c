package dispatch

import (
	"slices"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
)

// plan splits the hooks that match one event by what becomes of their runs.
type plan struct {
	matched  []match // all, in registration order
	deciding []match // their answers make the verdict that the sender waits for
	nested   []match // observers that a hook waits for, see startNested
	queued   []match // the observers' lane
	later    []match // observers that an earlier deciding hook of their file may stop
}

func newPlan(e *events.Event, matched []match) plan {
	p := plan{matched: dedupe(matched)}
	for _, m := range p.matched {
		switch {
		case e.Wait && e.Contract.Decidable && m.blocks:
			p.deciding = append(p.deciding, m)
		case e.Wait && !e.Contract.Decidable && e.Depth > 0:
			p.nested = append(p.nested, m)
		case m.chained() && p.decides(m.hook.Source):
			p.later = append(p.later, m)
		default:
			p.queued = append(p.queued, m)
		}
	}
	return p
}

func (p plan) decides(s hook.Source) bool {
	return slices.ContainsFunc(p.deciding, func(m match) bool { return m.hook.Source == s })
}

// tasks makes the queued runs. results receives the run of each when the
// sender waits for observers; it never blocks them.
func (p plan) tasks(e *events.Event) (tasks []*task, results chan events.Run) {
	if e.Wait && !e.Contract.Decidable {
		results = make(chan events.Run, len(p.matched))
	}
	return tasksOf(e, p.queued, results), results
}

func tasksOf(e *events.Event, ms []match, results chan<- events.Run) (tasks []*task) {
	for _, m := range ms {
		tasks = append(tasks, &task{event: e, match: m, result: results})
	}
	return tasks
}

// dedupe keeps the first of identical definitions (docker-agent does so too:
// reference/docker-agent.md 3.2).
func dedupe(ms []match) []match {
	if len(ms) < 2 {
		return ms
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(ms, func(m match) bool {
		id := m.hook.Definition
		if id == "" {
			return false
		}
		again := seen[id]
		seen[id] = true
		return again
	})
}

func names(ms []match) []string {
	list := make([]string, len(ms))
	for i, m := range ms {
		list[i] = m.hook.Name
	}
	return list
}

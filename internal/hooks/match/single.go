package match

import (
	"cmp"
	"sync"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/when"
)

// Single is Index for one hook, which need not be runnable. It is safe for concurrent
// use. For each name that it was asked about it keeps the values that depend on an event's name.
type Single struct {
	hook  *hook.Hook
	links when.Links

	mu     sync.Mutex // guards byName
	byName map[nameKey]single
}

// single has the values that depend on an event's name and dialect alone.
type single struct {
	Match
	reached bool // a pattern matches a name of the kind
}

// NewSingle returns a Single of h. links is as for New.
func NewSingle(h *hook.Hook, links when.Links) *Single {
	return &Single{hook: h, links: links, byName: map[nameKey]single{}}
}

// Hook returns the hook.
func (s *Single) Hook() *hook.Hook { return s.hook }

// Reaches reports whether a pattern of the hook matches an event of that name, whatever
// else keeps it from running for one.
func (s *Single) Reaches(d events.Dialect, name string) bool {
	return s.named(events.For(d, name)).reached
}

// Match returns the hook as it runs for e. If its definition does not admit e, why is the
// reason; "" = it runs.
func (s *Single) Match(e *events.Event) (m Match, why string) {
	named := s.named(e.Contract)
	if !named.reached {
		return named.Match, "none of its patterns matches " + e.Contract.Name
	}
	if m, ok := named.suiting(e); ok {
		return m, cmp.Or(m.refusal(e, &toolNames{}), s.unfit(e, m.Given))
	}
	return named.Match, noCase
}

// unfit returns why the hook's conditions do not fit e; "" = they do, or it has none.
func (s *Single) unfit(e *events.Event, given string) string {
	if len(s.hook.When) == 0 {
		return ""
	}
	return when.New(e, s.links).Unfit(s.hook.When, given)
}

func (s *Single) named(c *events.Contract) single {
	key := nameKey{c.Dialect, c.Name}
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.byName[key]
	if !ok {
		n = s.find(c)
		if len(s.byName) >= maxNames {
			clear(s.byName)
		}
		s.byName[key] = n
	}
	return n
}

func (s *Single) find(c *events.Contract) single {
	h := s.hook
	if m, ok := matchNames(h, c, kindNames(c)); ok {
		return single{m, true}
	}
	return single{Match{
		Hook: h, Rules: dialect.Rules(h.Dialect), Given: c.Name,
		Blocks: c.Decidable && !h.Shadow, Shadow: c.Decidable && h.Shadow,
	}, false}
}

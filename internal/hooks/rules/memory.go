package rules

import (
	"sync"
	"time"
)

// Memory counts the events that rules with a Limit fitted, by rule and session. It holds a
// bounded number of sessions, and of each no more times than the rule's count. It does not
// outlast the daemon. Safe for concurrent use.
type Memory struct {
	mu    sync.Mutex
	times map[memoryKey][]time.Time
	order []memoryKey // the oldest first
}

// mostKept is how many pairs of a rule and a session a Memory holds.
const mostKept = 4096

type memoryKey struct{ rule, session string }

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return &Memory{times: map[memoryKey][]time.Time{}} }

// take counts an event for a rule, and reports whether it is the Count-th of its session
// within the time, or a later one. One that is does not count: a rule that denies it would
// never end.
func (m *Memory) take(r *Rule, s *Subject) (reached bool) {
	limit := r.What.Limit
	key := memoryKey{r.File + r.Name, s.Session}
	m.mu.Lock()
	defer m.mu.Unlock()
	times, known := m.times[key]
	if !known {
		if m.order = append(m.order, key); len(m.order) > mostKept {
			delete(m.times, m.order[0])
			m.order = m.order[1:]
		}
	}
	times = within(times, s.Time, limit.Within)
	if reached = len(times) >= limit.Count-1; !reached {
		times = append(times, s.Time)
	}
	m.times[key] = times
	return reached
}

// release takes back what take has counted: the event was denied.
func (m *Memory) release(r *Rule, s *Subject) {
	key := memoryKey{r.File + r.Name, s.Session}
	m.mu.Lock()
	defer m.mu.Unlock()
	if times := m.times[key]; len(times) > 0 {
		m.times[key] = times[:len(times)-1]
	}
}

// counts are the limits of one judgement.
type counts struct {
	memory  *Memory
	reached map[*Rule]bool
}

// holds reports whether the rule's limit is reached. It counts the event once for a rule. A
// rule without a limit has always reached it.
func (c *counts) holds(r *Rule, s *Subject) bool {
	if r.What.Limit.Count <= 1 {
		return true
	}
	if c.memory == nil {
		return false
	}
	reached, known := c.reached[r]
	if !known {
		if reached = c.memory.take(r, s); c.reached == nil {
			c.reached = map[*Rule]bool{}
		}
		c.reached[r] = reached
	}
	return reached
}

// end takes back what was counted if the event is denied.
func (c *counts) end(s *Subject, v Verdict) {
	for r, reached := range c.reached {
		if v.Decision == Deny && !reached {
			c.memory.release(r, s)
		}
	}
}

// within returns the times of the span before now. A span of 0 is without end.
func within(times []time.Time, now time.Time, span time.Duration) []time.Time {
	if span <= 0 {
		return times
	}
	for len(times) > 0 && now.Sub(times[0]) > span {
		times = times[1:]
	}
	return times
}

package dispatch

import (
	"sync"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// decisionOrder has the decisions of a session recorded in the order in which they were made: a decision
// that waits for its runs to be recorded has the later ones wait, too. The zero value is ready.
type decisionOrder struct {
	mu   sync.Mutex
	last map[sessionOf]chan struct{} // closed when the newest decision that waits is recorded
}

// sessionOf is a session, which has an order of its own. Sessions of two agents may have the same id.
type sessionOf struct {
	dialect events.Dialect
	session string
}

// take is called for each decision in the order in which they are made. The decision is
// recorded after before is closed, nil = at once, and then done is called. waits says that
// the decision is not recorded at once in any case. A decision of no session waits for no other.
func (t *decisionOrder) take(e *wire.Decision, waits bool) (before <-chan struct{}, done func()) {
	if e.SessionID == "" {
		return nil, func() {}
	}
	of := sessionOf{e.Dialect, e.SessionID}
	t.mu.Lock()
	defer t.mu.Unlock()
	last, behind := t.last[of]
	if !behind && !waits {
		return nil, func() {}
	}
	if t.last == nil {
		t.last = map[sessionOf]chan struct{}{}
	}
	mine := make(chan struct{})
	t.last[of] = mine
	return last, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.last[of] == mine {
			delete(t.last, of)
		}
		close(mine)
	}
}

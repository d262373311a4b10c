package dispatch

import (
	"sync"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// turns keeps the decisions of a session in the order in which they were made: a decision that
// waits for its runs to be recorded has those after it wait, too. The zero value is ready.
type decisionOrder struct {
	mu   sync.Mutex
	last map[sessionOf]chan struct{} // closed when the newest decision that waits is recorded
}

// turnOf is a session, which has turns of its own. Sessions of two agents may have the same id.
type sessionOf struct {
	dialect events.Dialect
	session string
}

// take is called for each decision in the order in which they are made. The decision is
// recorded after before is closed, nil = at once, and then done is called. waits says that
// the decision is not recorded at once in any case. A decision of no session has no turn.
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

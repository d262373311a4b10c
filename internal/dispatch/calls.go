package dispatch

import (
	"hash/maphash"
	"sync"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// calls gives the events of one tool call the same id, for agents that tell none: the id of the
// event before the call. The event after it is known by session, tool and input; by the tool alone
// where one such call is open, as hooks may have changed its input. The zero value is ready.
type calls struct {
	mu   sync.Mutex
	seed maphash.Seed
	open map[callOf][]openCall // oldest first
	all  int                   // in open
}

// callOf is what the events of a call have in common.
type callOf struct {
	dialect       events.Dialect
	session, tool string
}

// openCall is a call whose result has not come.
type openCall struct {
	input uint64
	id    string
}

// maxOpen is how many open calls are remembered; then all are forgotten. An agent that is gone
// leaves its last calls open.
const maxOpen = 4096

// id returns the id of the call that e is about.
func (c *calls) id(e *events.Event) string {
	if id := dialect.CallID(e); id != "" || e.SessionID == "" || e.Tool == "" {
		return id
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil || c.all >= maxOpen {
		c.seed, c.open, c.all = maphash.MakeSeed(), map[callOf][]openCall{}, 0
	}
	of := callOf{e.Dialect, e.SessionID, e.Tool}
	input := maphash.Bytes(c.seed, dialect.Facts(e)[neutral.Input])
	switch e.Contract.Kind {
	case events.KindToolBefore:
		c.open[of] = append(c.open[of], openCall{input, e.EventID})
		c.all++
		return e.EventID
	case events.KindToolAfter:
		at := find(c.open[of], input)
		if at < 0 {
			return ""
		}
		id := c.open[of][at].id
		c.all--
		if c.open[of] = append(c.open[of][:at:at], c.open[of][at+1:]...); len(c.open[of]) == 0 {
			delete(c.open, of)
		}
		return id
	case events.KindToolTransform, events.KindPermissionRequest:
		if at := find(c.open[of], input); at >= 0 {
			return c.open[of][at].id
		}
	}
	return ""
}

// find returns the index of the call with the input, else of the only one; -1 = there is none.
func find(list []openCall, input uint64) int {
	for i, o := range list {
		if o.input == input {
			return i
		}
	}
	if len(list) == 1 {
		return 0
	}
	return -1
}

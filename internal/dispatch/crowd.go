package dispatch

import (
	"sync"

	"github.com/hookd/hookd/internal/events"
)

// maxDeciding is how many events may be decided, or wait for that, at once. Each
// has a goroutine and its data.
const maxDeciding = 1000

// crowd bounds the events that are being decided, in number and bytes. One event
// that is larger than all of that still fits when there is no other.
type crowd struct {
	maxBytes int64

	mu    sync.Mutex // guards what is below
	n     int
	bytes int64
}

func (c *crowd) enter(e *events.Event) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	size := int64(len(e.Data))
	if c.n > 0 && (c.n >= maxDeciding || c.bytes+size > c.maxBytes) {
		return false
	}
	c.n++
	c.bytes += size
	return true
}

func (c *crowd) leave(e *events.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n--
	c.bytes -= int64(len(e.Data))
}

package transcripts

import (
	"hash/maphash"
	"strconv"
	"sync"
)

// Once finds calls that are written down twice: a session that was forked has the calls of the
// first, with their ids and times. Safe for concurrent use. Make one with NewOnce.
type Once struct {
	seed maphash.Seed
	mu   sync.Mutex
	seen map[uint64]struct{}
}

// mostSeen bounds the calls that a Once knows, some 40 bytes each; beyond them none is a second.
const mostSeen = 2_000_000

// NewOnce returns a Once that knows no call.
func NewOnce() *Once { return &Once{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}} }

// First reports whether the call was not given before.
func (o *Once) First(c *Call) bool {
	var h maphash.Hash
	h.SetSeed(o.seed)
	for _, part := range []string{string(c.Agent), c.ID, c.Tool, strconv.FormatInt(c.Time.UnixMilli(), 36)} {
		h.WriteString(part)
		h.WriteByte(0)
	}
	sum := h.Sum64()
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, is := o.seen[sum]; is {
		return false
	}
	if len(o.seen) < mostSeen {
		o.seen[sum] = struct{}{}
	}
	return true
}

package neutral

import (
	"crypto/sha1"
	"fmt"

	"github.com/hookd/hookd/internal/events"
)

// urls is RFC 9562's name space of URLs.
var urls = [16]byte{0x6b, 0xa7, 0xb8, 0x11, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8}

// AgentUUID returns the agent_id of an agent that has none of its own: the
// UUIDv5 of "hookd:DIALECT:SESSION" in the name space of URLs.
func AgentUUID(d events.Dialect, session string) string {
	h := sha1.New()
	h.Write(urls[:])
	h.Write([]byte("hookd:" + string(d) + ":" + session))
	id := h.Sum(nil)[:16]
	id[6], id[8] = id[6]&0x0f|0x50, id[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

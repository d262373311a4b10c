package events

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// MaxIdentity is how long, in bytes, an event's fields about itself may be outside of
// its data: session_id, agent_id, agent_name, cwd, sender, parent and dialect. Records,
// logs and tables carry them.
const MaxIdentity = 4096

// bound cuts fields that are longer.
func (e *Envelope) bound() {
	e.SessionID = e.cut("session_id", e.SessionID)
	e.AgentID = e.cut("agent_id", e.AgentID)
	e.AgentName = e.cut("agent_name", e.AgentName)
	e.Cwd = e.cut("cwd", e.Cwd)
	e.Sender = e.cut("sender", e.Sender)
	e.Parent = e.cut("parent", e.Parent)
	e.Dialect = Dialect(e.cut("dialect", string(e.Dialect)))
}

// cut says so when it cuts; data keeps the whole text. The end is a sum of that, so
// that two long sessions stay two.
func (e *Envelope) cut(field, text string) string {
	if len(text) <= MaxIdentity {
		return text
	}
	e.Warnings = append(e.Warnings, fmt.Sprintf("field `%s` is %d bytes long: hookd's records have its beginning and a sum, data keeps it", field, len(text)))
	sum := sha256.Sum256([]byte(text))
	return strings.ToValidUTF8(text[:200], "") + "…" + hex.EncodeToString(sum[:8])
}

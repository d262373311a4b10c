package events

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// MaxIdentity is how long, in bytes, what an event says of itself may be
// outside of its data: session_id, agent_id, agent_name, cwd, sender, parent
// and dialect. Records, logs and tables carry them.
const MaxIdentity = 4096

// bound cuts what is longer, and says so; data keeps it whole. The end is a
// sum of what was cut, so that two long sessions stay two.
func (e *Envelope) bound() {
	for _, f := range []struct {
		name  string
		field *string
	}{
		{"session_id", &e.SessionID}, {"agent_id", &e.AgentID}, {"agent_name", &e.AgentName}, {"cwd", &e.Cwd},
		{"sender", &e.Sender}, {"parent", &e.Parent}, {"dialect", (*string)(&e.Dialect)},
	} {
		text := *f.field
		if len(text) <= MaxIdentity {
			continue
		}
		sum := sha256.Sum256([]byte(text))
		*f.field = strings.ToValidUTF8(text[:200], "") + "…" + hex.EncodeToString(sum[:8])
		e.Warnings = append(e.Warnings, fmt.Sprintf("field `%s` is %d bytes long: hookd's records have its beginning and a sum, data keeps it", f.name, len(text)))
	}
}

package neutral

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// Probe is an event that an agent could send, which does nothing: `hookd doctor`
// sends it to see the whole way from the agent to its hooks and back.
type Probe struct {
	Event string
	// Payload is the JSON of the event. As values it has "$SESSION", "$CWD", "$TIME"
	// (RFC 3339) and "$MILLIS" (a number, since 1970).
	Payload string
}

// With returns the payload with these values.
func (p Probe) With(session, cwd string, now time.Time) json.RawMessage {
	quoted := func(s string) string {
		text, _ := json.Marshal(s) // a string always can be
		return string(text)
	}
	text := strings.NewReplacer(
		`"$SESSION"`, quoted(session), `"$CWD"`, quoted(cwd),
		`"$TIME"`, quoted(now.UTC().Format(time.RFC3339)), `"$MILLIS"`, strconv.FormatInt(now.UnixMilli(), 10),
	).Replace(p.Payload)
	var out bytes.Buffer
	_ = json.Compact(&out, []byte(text)) // a test checks each Payload
	return out.Bytes()
}

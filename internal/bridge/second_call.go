package bridge

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/dialect"
	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/rawjson"
	"github.com/hookd/hookd/internal/verdict"
)

// Some agents run the hooks in another agent's settings after their own, so the
// bridge may be called twice for one event: see neutral.Guest. The agent's own call
// leaves a mark once its answer is written; the call out of the other settings that
// finds the mark of the same event has no opinion. Settings are not looked at:
// what they say now need not be what the running agent has read. Without a mark
// the event is sent, since twice is better than never.

// guest returns the agent that runs this call, if it is one that runs the hooks of
// others too: c.Agent, or one that has sent its event to a hook of c.Agent's settings.
func (c *call) guest() (events.Dialect, *neutral.Guest) {
	d := events.Dialect(c.Agent)
	if g := dialect.Guest(d); g != nil {
		return d, g
	}
	for _, d := range dialect.Guests(d) {
		if g := dialect.Guest(d); g.Sent(c.payload) {
			return d, g
		}
	}
	return "", nil
}

// hosts reports whether other agents run the hooks in the settings of c.Agent.
func (c *call) hosts() bool { return len(dialect.Guests(events.Dialect(c.Agent))) > 0 }

// foreign takes over an event that another agent gives to hooks of c.Agent's settings
// in its own form.
func (c *call) foreign() {
	if rawjson.Get(c.payload, c.agent.EventField) != nil {
		return
	}
	for _, d := range dialect.Guests(events.Dialect(c.Agent)) {
		g := dialect.Guest(d)
		if g.Named == nil {
			continue
		}
		if name := g.Named(c.payload); events.LookupIn(d, name) != nil {
			c.agent, c.Agent, c.event, c.borrowed = dialect.Agent(d), string(d), name, true
			return
		}
	}
}

// moment names the event that this call is about, the same in both of the
// agent's calls; "" = it cannot be told from others, or no second call is known.
func (c *call) moment(input json.RawMessage) string {
	agent, guest := c.guest()
	if guest == nil {
		return ""
	}
	when := guest.When(c.payload, c.row)
	session := first(c.payload, "sessionId", "session_id", "conversation_id")
	if when == "" || session == nil {
		return ""
	}
	socket := c.Socket
	if socket == "" {
		socket = client.DefaultSocket()
	}
	sum := sha256.Sum256(bytes.Join([][]byte{session, first(c.payload, "prompt"), ordered(input)}, []byte{0}))
	return strings.Join([]string{
		"answered", string(agent), socket, c.Ask, when, string(c.row.Kind), hex.EncodeToString(sum[:]),
	}, "\x00")
}

// input is what the tool gets, in either form.
func (c *call) input() json.RawMessage {
	return first(c.payload, "tool_input", "toolArgs", "toolInput")
}

// answered writes the mark: hookd has this event, and the agent has its answer.
func (c *call) answered(v *verdict.Verdict) {
	if c.borrowed || c.hosts() {
		return
	}
	inputs := []json.RawMessage{c.input()}
	if v != nil && v.UpdatedInput != nil { // the second call has the new one
		inputs = append(inputs, v.UpdatedInput)
	}
	for _, input := range inputs {
		if key := c.moment(input); key != "" {
			c.marks().put(key, "1")
		}
	}
}

// isSecondCall reports whether this call is the second one for an event that hookd has
// answered.
func (c *call) isSecondCall() bool {
	if !c.borrowed && !c.hosts() {
		return false
	}
	if c.guarded() {
		return false // the user can write marks
	}
	key := c.moment(c.input())
	return key != "" && c.marks().take(key) != ""
}

// marks are kept apart, where what is too old goes with each new one.
func (c *call) marks() state {
	if c.state.dir == "" {
		return state{}
	}
	s := c.state.inside("answered")
	s.prune(fresh)
	return s
}

// first returns the first of the members that payload has.
func first(payload json.RawMessage, keys ...string) json.RawMessage {
	for _, key := range keys {
		if value := rawjson.Get(payload, key); value != nil {
			return value
		}
	}
	return nil
}

// ordered writes a value so that the order of its members does not count.
func ordered(value json.RawMessage) json.RawMessage {
	var v any
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return value
	}
	text, err := json.Marshal(v)
	if err != nil {
		return value
	}
	return text
}

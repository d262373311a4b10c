package bridge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// Some agents run the hooks in other agents' settings beside their own, so the bridge
// may be called twice for one event, by two ways: see neutral.Guest. The call that comes
// first leaves a mark, which says that its answer is written once it is. The call that
// finds the mark of the other way waits for that and has no opinion; it takes the mark
// away. Settings are not looked at: their present text need not be the text that the running
// agent has read. Without a mark the event is sent, since twice is better than never.

// guest returns the agent that runs this call, if that agent runs the hooks of others too:
// c.Agent, or an agent that has sent its event to a hook of c.Agent's settings.
func (c *call) guest() (events.Dialect, *neutral.Guest) {
	d := events.Dialect(c.Agent)
	if g := dialect.Guest(d); g != nil {
		return d, g
	}
	for _, d := range dialect.Guests(d) {
		if g := dialect.Guest(d); g.Sent(c.payload, c.Getenv) {
			return d, g
		}
	}
	return "", nil
}

// foreign takes over an event that another agent gives to hooks of c.Agent's settings
// in its own form.
func (c *call) foreign() {
	for _, d := range dialect.Guests(events.Dialect(c.Agent)) {
		g := dialect.Guest(d)
		if g.Named == nil || !g.Sent(c.payload, c.Getenv) {
			continue
		}
		if name := g.Named(c.payload); events.LookupIn(d, name) != nil {
			c.agent, c.Agent, c.event = dialect.Agent(d), string(d), name
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

// input is the input of the tool, in either form.
func (c *call) input() json.RawMessage {
	return first(c.payload, "tool_input", "toolArgs", "toolInput")
}

// isSecondCall reports whether hookd has answered this event, by the agent's other call.
// While that one is under way it waits, for half of its own time at most.
func (c *call) isSecondCall(ctx context.Context) bool {
	key := c.moment(c.input())
	if key == "" || c.hasSystemDaemon() { // the user can write marks
		return false
	}
	c.mark = c.marks().mark(key, c.way)
	ctx, cancel := context.WithDeadline(ctx, c.start.Add(c.patience(c.deadline())/2))
	defer cancel()
	return c.mark.join(ctx)
}

// answered notes in the mark that hookd has this event, and that the agent has its answer.
func (c *call) answered(v *verdict.Verdict) {
	c.mark.answer()
	if c.mark.path == "" || v == nil || v.UpdatedInput == nil {
		return
	}
	if key := c.moment(v.UpdatedInput); key != "" { // the second call has the new input
		c.marks().mark(key, c.way).answer()
	}
}

// marks are kept apart, where marks that are too old go with each new one.
func (c *call) marks() state {
	kept := newState(c.State)
	if kept.dir == "" {
		return state{}
	}
	s := kept.inside("answered")
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

package bridge

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/rawjson"
	"github.com/hookd/hookd/internal/verdict"
)

// Copilot and Cursor run the hooks in Claude Code's settings after their own, so
// the bridge may be called twice for one event. The agent's own call leaves a
// mark once its answer is written; the call out of Claude Code's settings that
// finds the mark of the same event has no opinion. Settings are not looked at:
// what they say now need not be what the running agent has read. Without a mark
// the event is sent, since twice is better than never.

// borrower returns the agent that runs this call: c.Agent, or one that gives its
// own event to a hook of Claude Code's settings; "" = neither kind.
func (c *call) borrower() events.Dialect {
	switch d := events.Dialect(c.Agent); {
	case d == events.Copilot, d == events.Cursor:
		return d
	case d != events.ClaudeCode:
	case rawjson.Get(c.payload, "cursor_version") != nil:
		return events.Cursor
	case rawjson.Get(c.payload, "timestamp") != nil:
		return events.Copilot
	}
	return ""
}

// foreign takes over an event that Copilot gives to hooks of Claude Code's
// settings in its own form, recognized by a name that only Copilot sends.
func (c *call) foreign() {
	if events.Dialect(c.Agent) != events.ClaudeCode || rawjson.Get(c.payload, c.agent.EventField) != nil {
		return
	}
	name, _ := rawjson.GetString(c.payload, "hookName")
	if events.LookupIn(events.Copilot, name) == nil || rawjson.Get(c.payload, "sessionId") == nil {
		return
	}
	c.agent, c.Agent, c.event, c.borrowed = dialect.Agent(events.Copilot), string(events.Copilot), name, true
}

// moment names the event that this call is about, the same in both of the
// agent's calls; "" = it cannot be told from others, or no second call is known.
func (c *call) moment(input json.RawMessage) string {
	agent := c.borrower()
	var when string
	switch agent {
	case events.Copilot:
		when = milliseconds(rawjson.Get(c.payload, "timestamp"))
	case events.Cursor:
		generation, _ := rawjson.GetString(c.payload, "generation_id")
		use, _ := rawjson.GetString(c.payload, "tool_use_id")
		if when = generation; c.row.FailClosed && use == "" {
			when = "" // one turn has many calls
		} else if generation != "" {
			when += "\x00" + use
		}
	}
	session := first(c.payload, "sessionId", "session_id", "conversation_id")
	if agent == "" || when == "" || session == nil {
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
	if c.borrowed || events.Dialect(c.Agent) == events.ClaudeCode {
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
	if !c.borrowed && events.Dialect(c.Agent) != events.ClaudeCode {
		return false
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

// milliseconds reads a timestamp in either form; "" = it is none.
func milliseconds(value json.RawMessage) string {
	text, is := rawjson.Text(value)
	if !is {
		_, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil {
			return ""
		}
		return string(value)
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return ""
	}
	return strconv.FormatInt(at.UnixMilli(), 10)
}

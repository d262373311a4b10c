package events

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

const (
	// MaxID is the length in bytes that a sender's own id may have.
	MaxID = 128
	// MaxTimeout bounds the budget that a sender may give an event.
	MaxTimeout = 10 * time.Minute
)

// Parse reads one event as a sender writes it: one JSON object with the keys
// of SPEC section 5, case-sensitive; unknown keys are ignored and of several
// equal ones the last counts. Data is an object on one line, {} when absent,
// and a part of line unless it had to be brought onto one; all else has memory
// of its own. What was tolerated is in Warnings. Whether the name is reserved is
// not Parse's business.
func Parse(line []byte) (Envelope, *Error) {
	var p Parser
	return p.Parse(line)
}

// A Parser reads the events of one sender. What one of them says in the words
// of the one before, it shares with that: most senders repeat themselves. The
// zero Parser is ready.
type Parser struct{ last Envelope }

// Parse reads the next event, as the function of that name does.
func (p *Parser) Parse(line []byte) (Envelope, *Error) {
	var warnings []string
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
		warnings = append(warnings, "the event was not valid UTF-8: bytes that are not were replaced by U+FFFD")
	}
	var m written
	if !m.read(line) {
		return Envelope{}, invalid(line)
	}
	env, err := m.envelope(&p.last)
	if err != nil {
		return Envelope{}, err
	}
	env.Warnings = warnings
	if len(line) > MaxIdentity {
		env.bound()
	}
	p.last = env
	p.last.Data, p.last.Warnings = nil, nil
	return env, nil
}

// written is an envelope as it was written: the bytes of each member, nil for
// those that are absent. Of several equal members it has the last.
type written struct {
	event, data, wait, id, sender, dialect, lane, timeout, parent json.RawMessage
	place, inData                                                 place
	broken                                                        bool // there are line ends between the parts
}

// place is where an event happened. An envelope says it, or its data.
type place struct {
	session, agent, name, cwd json.RawMessage
}

// read reports whether line is one JSON object and takes its members, in one
// pass.
func (m *written) read(line []byte) bool {
	w := walker{src: line}
	w.blanks()
	for w.enter(); w.member(); {
		key, start := w.name(), w.pos
		if string(key) == "data" && w.at() == '{' {
			m.inData = place{}
			for w.enter(); w.member(); {
				m.inData.keep(w.name(), w.value())
			}
			m.data = line[start:w.pos:w.pos]
			continue
		}
		m.keep(key, w.value())
	}
	m.broken = w.broken
	return w.end()
}

func (m *written) keep(key []byte, raw json.RawMessage) {
	switch string(key) {
	case "event":
		m.event = raw
	case "data":
		m.data, m.inData = raw, place{}
	case "wait":
		m.wait = raw
	case "id":
		m.id = raw
	case "sender":
		m.sender = raw
	case "dialect":
		m.dialect = raw
	case "lane":
		m.lane = raw
	case "timeout_ms":
		m.timeout = raw
	case "parent":
		m.parent = raw
	default:
		m.place.keep(key, raw)
	}
}

func (p *place) keep(key []byte, raw json.RawMessage) {
	switch string(key) {
	case "session_id":
		p.session = raw
	case "agent_id":
		p.agent = raw
	case "agent_name":
		p.name = raw
	case "cwd":
		p.cwd = raw
	}
}

// envelope reads the members. What one says as last has it, is last's.
func (m *written) envelope(last *Envelope) (Envelope, *Error) {
	var r reader
	e := Envelope{
		Event:     r.text("event", m.event, last.Event),
		ID:        r.text("id", m.id, last.ID),
		SessionID: r.text("session_id", m.place.session, last.SessionID),
		AgentID:   r.text("agent_id", m.place.agent, last.AgentID),
		AgentName: r.text("agent_name", m.place.name, last.AgentName),
		Cwd:       r.text("cwd", m.place.cwd, last.Cwd),
		Sender:    r.text("sender", m.sender, last.Sender),
		Dialect:   Dialect(r.text("dialect", m.dialect, string(last.Dialect))),
		Lane:      r.text("lane", m.lane, last.Lane),
		Parent:    r.text("parent", m.parent, last.Parent),
		Data:      r.data(m.data, m.broken),
		Wait:      r.bool("wait", m.wait),
		TimeoutMS: r.millis(m.timeout),
	}
	if err := cmp.Or(r.bad, e.check()); err != nil {
		return e, err
	}
	e.AgentNamed = e.AgentName != ""
	orText(&e.SessionID, m.inData.session, last.SessionID)
	orText(&e.AgentID, m.inData.agent, last.AgentID)
	orText(&e.AgentName, m.inData.name, last.AgentName)
	orText(&e.Cwd, m.inData.cwd, last.Cwd)
	return e, nil
}

func (e *Envelope) checkName() *Error {
	err := CheckName(e.Event)
	if err != nil && e.Event == "" {
		err.Message, err.Hint = "event has no name", `add "event":"agent:end" to the object`
	}
	return err
}

// check judges what a type alone does not.
func (e *Envelope) check() *Error {
	if err := e.checkName(); err != nil {
		return err
	}
	switch {
	case len(e.ID) > MaxID:
		return badField("id", fmt.Sprintf("is %d bytes long, at most %d are allowed", len(e.ID), MaxID), "send a shorter id, e.g. a UUID")
	case e.Lane != "" && e.Lane != LaneDefault && e.Lane != LanePreempt:
		return badField("lane", fmt.Sprintf("is %q", e.Lane), `type "lane":"default" or "lane":"preempt", or leave it out`)
	}
	return nil
}

// reader reads members by the types that they must have. bad is the first that
// has another one; those that are absent, or null, are zero.
type reader struct{ bad *Error }

func (r *reader) refuse(err *Error) {
	if r.bad == nil {
		r.bad = err
	}
}

// text reads a string; before, when it is that.
func (r *reader) text(name string, raw json.RawMessage, before string) string {
	switch t := typeOf(raw); t {
	case String:
		return sameText(raw, before)
	case "null":
	default:
		r.refuse(badField(name, "is "+withArticle(t)+", not a string", fmt.Sprintf(`put it in quotes: "%s":"…"`, name)))
	}
	return ""
}

// data reads an object, {} when it is absent.
func (r *reader) data(raw json.RawMessage, broken bool) json.RawMessage {
	switch t := typeOf(raw); t {
	case Object:
		if broken {
			return oneLine(raw)
		}
		return raw
	case "null":
	default:
		r.refuse(&Error{
			Code:    CodeBadData,
			Message: "field `data` is " + withArticle(t) + ", not an object",
			Hint:    `put it into an object, e.g. "data":{"value":…}`,
		})
	}
	return json.RawMessage("{}")
}

// oneLine returns raw without line breaks between its parts.
func oneLine(raw json.RawMessage) json.RawMessage {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return raw
	}
	var b bytes.Buffer
	b.Grow(len(raw))
	if err := json.Compact(&b, raw); err != nil {
		return raw // not reached with valid JSON
	}
	return b.Bytes()
}

// orText sets an empty field to raw, if that is a string.
func orText(field *string, raw json.RawMessage, before string) {
	if *field == "" && typeOf(raw) == String {
		*field = sameText(raw, before)
	}
}

// sameText returns the text of a string, or before when that is the same.
func sameText(raw json.RawMessage, before string) string {
	inner := raw[1 : len(raw)-1]
	if string(inner) == before && bytes.IndexByte(inner, '\\') < 0 {
		return before
	}
	return unescape(inner)
}

func (r *reader) bool(name string, raw json.RawMessage) bool {
	switch t := typeOf(raw); t {
	case Boolean:
		return raw[0] == 't'
	case "null":
	default:
		r.refuse(badField(name, "is "+withArticle(t)+", not a boolean", fmt.Sprintf(`type "%s":true or "%s":false, without quotes`, name, name)))
	}
	return false
}

func (r *reader) millis(raw json.RawMessage) int64 {
	const hint = `type whole milliseconds, e.g. "timeout_ms":4000`
	t := typeOf(raw)
	if t == "null" {
		return 0
	}
	if t != Number || !isInteger(raw) {
		r.refuse(badField("timeout_ms", "is "+describe(raw)+", not an integer", hint))
		return 0
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || n < 0 || n > float64(MaxTimeout.Milliseconds()) {
		r.refuse(badField("timeout_ms", fmt.Sprintf("is %.32s, not between 0 and %d", raw, MaxTimeout.Milliseconds()), hint))
		return 0
	}
	return int64(n)
}

func badField(name, problem, hint string) *Error {
	return &Error{Code: CodeBadField, Message: "field `" + name + "` " + problem, Hint: hint}
}

// invalid says where and why line is no JSON object.
func invalid(line []byte) *Error {
	e := &Error{Code: CodeBadJSON, Hint: `send one JSON object per line or request, e.g. {"event":"agent:end","data":{}}`}
	var whole json.RawMessage
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(line, &whole); {
	case err == nil:
		e.Message = "event is " + withArticle(typeOf(whole)) + ", not an object"
		e.Hint = `send one object per line or request, e.g. {"event":"agent:end","data":{}}`
	case len(bytes.TrimSpace(line)) == 0:
		e.Message = "event is empty"
	case errors.As(err, &syntax):
		e.Message = fmt.Sprintf("event is not valid JSON: %s at byte %d", syntax.Error(), syntax.Offset)
	default:
		e.Message = "event is not valid JSON"
	}
	return e
}

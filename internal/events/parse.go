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
// equal ones the last counts. Nothing of line is kept, so the caller may use it
// again. Data is an object on one line, {} when absent. What was tolerated is
// in Warnings. Whether the name is reserved is not Parse's business.
func Parse(line []byte) (Envelope, *Error) {
	var env Envelope
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
		env.Warnings = append(env.Warnings, "the event was not valid UTF-8: bytes that are not were replaced by U+FFFD")
	}
	var m written
	if !m.read(line) {
		return Envelope{}, invalid(line)
	}
	if err := env.take(&m); err != nil {
		return Envelope{}, err
	}
	return env, nil
}

// written is an envelope as it was written: the bytes of each member, nil for
// those that are absent. Of several equal members it has the last.
type written struct {
	event, data, wait, id, sender, dialect, lane, timeout, parent json.RawMessage
	place, inData                                                 place
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

// take reads the members of the envelope.
func (e *Envelope) take(m *written) *Error {
	for _, field := range [...]struct {
		to   *string
		name string
		raw  json.RawMessage
	}{
		{&e.Event, "event", m.event}, {&e.ID, "id", m.id}, {&e.SessionID, "session_id", m.place.session},
		{&e.AgentID, "agent_id", m.place.agent}, {&e.AgentName, "agent_name", m.place.name}, {&e.Cwd, "cwd", m.place.cwd},
		{&e.Sender, "sender", m.sender}, {(*string)(&e.Dialect), "dialect", m.dialect}, {&e.Lane, "lane", m.lane}, {&e.Parent, "parent", m.parent},
	} {
		if err := setString(field.to, field.name, field.raw); err != nil {
			return err
		}
	}
	if err := cmp.Or(e.setData(m.data), setBool(&e.Wait, "wait", m.wait), setMillis(&e.TimeoutMS, m.timeout), e.checkName()); err != nil {
		return err
	}
	e.AgentNamed = e.AgentName != ""
	orText(&e.SessionID, m.inData.session)
	orText(&e.AgentID, m.inData.agent)
	orText(&e.AgentName, m.inData.name)
	orText(&e.Cwd, m.inData.cwd)
	e.bound()
	return e.check()
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
	switch {
	case len(e.ID) > MaxID:
		return badField("id", fmt.Sprintf("is %d bytes long, at most %d are allowed", len(e.ID), MaxID), "send a shorter id, e.g. a UUID")
	case e.Lane != "" && e.Lane != LaneDefault && e.Lane != LanePreempt:
		return badField("lane", fmt.Sprintf("is %q", e.Lane), `type "lane":"default" or "lane":"preempt", or leave it out`)
	}
	return nil
}

func (e *Envelope) setData(raw json.RawMessage) *Error {
	switch t := typeOf(raw); t {
	case Object:
		e.Data = oneLine(raw)
	case "null":
		e.Data = json.RawMessage("{}")
	default:
		return &Error{
			Code:    CodeBadData,
			Message: "field `data` is " + withArticle(t) + ", not an object",
			Hint:    `put it into an object, e.g. "data":{"value":…}`,
		}
	}
	return nil
}

// oneLine returns a copy of raw without line breaks between its parts.
func oneLine(raw json.RawMessage) json.RawMessage {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return bytes.Clone(raw)
	}
	var b bytes.Buffer
	b.Grow(len(raw))
	if err := json.Compact(&b, raw); err != nil {
		return bytes.Clone(raw) // not reached with valid JSON
	}
	return b.Bytes()
}

// orText sets an empty field to raw, if that is a string.
func orText(field *string, raw json.RawMessage) {
	if *field == "" {
		*field, _ = text(raw)
	}
}

func setString(to *string, name string, raw json.RawMessage) *Error {
	switch t := typeOf(raw); t {
	case String:
		*to, _ = text(raw)
	case "null":
		*to = ""
	default:
		return badField(name, "is "+withArticle(t)+", not a string", fmt.Sprintf(`put it in quotes: "%s":"…"`, name))
	}
	return nil
}

func setBool(to *bool, name string, raw json.RawMessage) *Error {
	switch t := typeOf(raw); t {
	case Boolean:
		*to = raw[0] == 't'
	case "null":
		*to = false
	default:
		return badField(name, "is "+withArticle(t)+", not a boolean", fmt.Sprintf(`type "%s":true or "%s":false, without quotes`, name, name))
	}
	return nil
}

func setMillis(to *int64, raw json.RawMessage) *Error {
	const hint = `type whole milliseconds, e.g. "timeout_ms":4000`
	t := typeOf(raw)
	if t == "null" {
		*to = 0
		return nil
	}
	if t != Number || !isInteger(raw) {
		return badField("timeout_ms", "is "+describe(raw)+", not an integer", hint)
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || n < 0 || n > float64(MaxTimeout.Milliseconds()) {
		return badField("timeout_ms", fmt.Sprintf("is %.32s, not between 0 and %d", raw, MaxTimeout.Milliseconds()), hint)
	}
	*to = int64(n)
	return nil
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

package events

import (
	"bytes"
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
	if !json.Valid(line) {
		return Envelope{}, invalid(line)
	}
	if t := typeOf(bytes.TrimLeft(line, " \t\r\n")); t != Object {
		return Envelope{}, &Error{
			Code:    CodeBadJSON,
			Message: "event is " + withArticle(t) + ", not an object",
			Hint:    `send one object per line or request, e.g. {"event":"agent:end","data":{}}`,
		}
	}
	if err := env.read(line); err != nil {
		return Envelope{}, err
	}
	env.fill()
	env.bound()
	return env, nil
}

// read takes the members of the envelope.
func (e *Envelope) read(line []byte) *Error {
	s := scan(line)
	for s.next() {
		if err := e.set(unescapedKey(s), s.value()); err != nil {
			return err
		}
	}
	if err := CheckName(e.Event); err != nil {
		if e.Event == "" {
			err.Message, err.Hint = "event has no name", `add "event":"agent:end" to the object`
		}
		return err
	}
	return e.check()
}

// unescapedKey returns the key under the scanner; plain ones do not allocate
// in a switch.
func unescapedKey(s *scanner) []byte {
	if bytes.IndexByte(s.key, '\\') < 0 {
		return s.key
	}
	return []byte(unescape(s.key))
}

func (e *Envelope) set(key []byte, raw json.RawMessage) *Error {
	switch string(key) {
	case "event":
		return setString(&e.Event, "event", raw)
	case "data":
		return e.setData(raw)
	case "wait":
		return setBool(&e.Wait, "wait", raw)
	case "id":
		return setString(&e.ID, "id", raw)
	case "session_id":
		return setString(&e.SessionID, "session_id", raw)
	case "agent_id":
		return setString(&e.AgentID, "agent_id", raw)
	case "agent_name":
		return setString(&e.AgentName, "agent_name", raw)
	case "cwd":
		return setString(&e.Cwd, "cwd", raw)
	case "sender":
		return setString(&e.Sender, "sender", raw)
	case "dialect":
		return setString((*string)(&e.Dialect), "dialect", raw)
	case "lane":
		return setString(&e.Lane, "lane", raw)
	case "timeout_ms":
		return setMillis(&e.TimeoutMS, raw)
	case "parent":
		return setString(&e.Parent, "parent", raw)
	}
	return nil
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
		e.Data = nil
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

// fill takes from data what the envelope does not say.
func (e *Envelope) fill() {
	e.AgentNamed = e.AgentName != ""
	if e.Data == nil {
		e.Data = json.RawMessage("{}")
		return
	}
	var session, agent, name, cwd json.RawMessage
	s := scan(e.Data)
	for s.next() {
		switch string(unescapedKey(s)) {
		case "session_id":
			session = s.value()
		case "agent_id":
			agent = s.value()
		case "agent_name":
			name = s.value()
		case "cwd":
			cwd = s.value()
		}
	}
	orText(&e.SessionID, session)
	orText(&e.AgentID, agent)
	orText(&e.AgentName, name)
	orText(&e.Cwd, cwd)
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

// invalid says where and why line is no JSON.
func invalid(line []byte) *Error {
	e := &Error{Code: CodeBadJSON, Hint: `send one JSON object per line or request, e.g. {"event":"agent:end","data":{}}`}
	var whole json.RawMessage
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(line, &whole); {
	case len(bytes.TrimSpace(line)) == 0:
		e.Message = "event is empty"
	case errors.As(err, &syntax):
		e.Message = fmt.Sprintf("event is not valid JSON: %s at byte %d", syntax.Error(), syntax.Offset)
	default:
		e.Message = "event is not valid JSON"
	}
	return e
}

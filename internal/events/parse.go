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

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/wire"
)

const (
	// MaxID is the length in bytes that a sender's own id may have.
	MaxID = 128
	// MaxTimeout bounds the budget that a sender may give an event.
	MaxTimeout = 10 * time.Minute
)

// Parse reads one event as a sender writes it: one JSON object with the keys of
// docs/reference/protocol.md, case-sensitive; unknown keys are ignored and of several
// equal ones the last counts. Data is an object on one line, {} when absent, and a part
// of line unless it had to be brought onto one; all else has memory of its own.
// Tolerated faults are in Warnings. Whether the name is reserved is not Parse's
// business.
func Parse(line []byte) (Envelope, *wire.Error) {
	var p Parser
	env, err := p.Parse(line)
	if err != nil {
		return Envelope{}, err
	}
	return *env, nil
}

// A Parser reads the events of one sender into one envelope. Most senders repeat
// themselves: a text that is the same as before takes no memory. The zero Parser is ready.
type Parser struct {
	// Pause is called after each 64 KiB of a longer line, twice as its bytes are read
	// twice; nil = it is read at once.
	Pause func()

	env Envelope
}

// pieceBytes is the number of bytes that are read of a line between two pauses.
const pieceBytes = 64 << 10

// Parse reads the next event, as the function of that name does. The envelope
// is good until the next call, and the caller may change it; texts and warnings may be
// kept.
func (p *Parser) Parse(line []byte) (*Envelope, *wire.Error) {
	e := &p.env
	e.forget()
	if !p.valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
		e.Unclear = "bytes that are no UTF-8, and hooks saw U+FFFD in their place"
		e.Warnings = append(e.Warnings, "the event was not valid UTF-8: bytes that are not were replaced by U+FFFD")
	}
	var m written
	w := rawjson.Walk(line)
	p.pauseIn(&w, line)
	if !m.read(line, &w) {
		return nil, invalid(line)
	}
	if err := cmp.Or(e.take(&m), e.check()); err != nil {
		return nil, err
	}
	if len(line) > MaxIdentity {
		e.bound()
	}
	return e, nil
}

// forget empties the fields that no line has.
func (e *Envelope) forget() {
	e.At, e.Warnings, e.Peer, e.Owned, e.Brought = time.Time{}, nil, nil, false, nil
	e.Traceparent, e.Tracestate, e.Unclear = "", "", ""
}

// valid reports whether line is UTF-8.
func (p *Parser) valid(line []byte) bool {
	for p.Pause != nil && len(line) > pieceBytes {
		n := pieceBytes
		for n > pieceBytes-utf8.UTFMax && !utf8.RuneStart(line[n]) {
			n--
		}
		if !utf8.Valid(line[:n]) {
			return false
		}
		line = line[n:]
		p.Pause()
	}
	return utf8.Valid(line)
}

// pauseIn has w pause while it walks over line.
func (p *Parser) pauseIn(w *rawjson.Walker, line []byte) {
	if p.Pause != nil && len(line) > pieceBytes {
		w.InPieces(pieceBytes, p.Pause)
	}
}

// written is an envelope as it was written: the bytes of each member, nil for absent
// members. Of several equal members it has the last.
type written struct {
	event, data, wait, id, sender, dialect, lane, timeout, parent, tells, unasked, tried json.RawMessage
	place, inData                                                                        place

	broken bool // there are line ends between the parts
	again  bool // it had other data before
}

// place is where an event happened. An envelope says it, or its data.
type place struct {
	session, agent, name, cwd json.RawMessage

	peer bool // it has a member that may be taken for PeerKey
}

// read reports whether line is one JSON object and takes its members, in one
// pass of w, which is at its start.
func (m *written) read(line []byte, w *rawjson.Walker) bool {
	w.Blanks()
	for w.Enter(); w.Member(); {
		key, start := w.Name(), w.Pos()
		if string(key) == "data" && w.At() == '{' {
			m.inData = place{}
			m.inData.read(w)
			m.hold(line[start:w.Pos():w.Pos()])
			continue
		}
		m.keep(key, w.Value())
	}
	m.broken = w.Broken()
	return w.End()
}

func (m *written) hold(data json.RawMessage) {
	m.again = m.again || m.data != nil && !bytes.Equal(m.data, data)
	m.data = data
}

func (m *written) keep(key []byte, raw json.RawMessage) {
	switch string(key) {
	case "event":
		m.event = raw
	case "data":
		m.inData = place{}
		m.hold(raw)
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
	case "tells":
		m.tells = raw
	case "unasked":
		m.unasked = raw
	case "tried":
		m.tried = raw
	default:
		m.place.keep(key, raw)
	}
}

// read takes the members of the object at which w is.
func (p *place) read(w *rawjson.Walker) {
	for w.Enter(); w.Member(); {
		p.keep(w.Name(), w.Value())
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
	default:
		p.peer = p.peer || IsPeerKey(string(key))
	}
}

// take reads the members. Data may have the members that are empty.
func (e *Envelope) take(m *written) *wire.Error {
	var r reader
	r.text(&e.Event, "event", m.event, nil)
	r.text(&e.ID, "id", m.id, nil)
	r.text(&e.SessionID, "session_id", m.place.session, m.inData.session)
	r.text(&e.AgentID, "agent_id", m.place.agent, m.inData.agent)
	r.text(&e.AgentName, "agent_name", m.place.name, m.inData.name)
	r.text(&e.Cwd, "cwd", m.place.cwd, m.inData.cwd)
	r.text(&e.Sender, "sender", m.sender, nil)
	r.text((*string)(&e.Dialect), "dialect", m.dialect, nil)
	r.text(&e.Lane, "lane", m.lane, nil)
	r.text(&e.Parent, "parent", m.parent, nil)
	e.AgentNamed = hasText(m.place.name)
	e.Data, e.Peerless = r.data(m.data, m.broken), !m.inData.peer
	e.Wait = r.bool("wait", m.wait)
	e.Tells = r.bool("tells", m.tells)
	if m.again {
		e.Unclear = "data twice, and hooks saw the last"
	}
	e.Unattended = r.bool("unasked", m.unasked)
	e.Tried = r.bool("tried", m.tried)
	e.TimeoutMS = r.millis(m.timeout)
	return r.bad
}

func (e *Envelope) checkName() *wire.Error {
	err := CheckName(e.Event)
	if err != nil && e.Event == "" {
		err.Message, err.Hint = "event has no name", `add "event":"agent:end" to the object`
	}
	return err
}

// check judges faults that a type alone does not show.
func (e *Envelope) check() *wire.Error {
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

// reader reads members by the types that they must have. bad is the first member of
// another type; members that are absent, or null, are zero.
type reader struct{ bad *wire.Error }

func (r *reader) refuse(err *wire.Error) {
	if r.bad == nil {
		r.bad = err
	}
}

// text sets to to a string, or, where that is empty, to other if that is one.
func (r *reader) text(to *string, name string, raw, other json.RawMessage) {
	if raw == nil && other == nil { // most are absent
		*to = ""
		return
	}
	r.present(to, name, raw, other)
}

func (r *reader) present(to *string, name string, raw, other json.RawMessage) {
	if t := typeOf(raw); t != String && t != "null" {
		r.refuse(badField(name, "is "+withArticle(t)+", not a string", fmt.Sprintf(`put it in quotes: "%s":"…"`, name)))
	}
	if !hasText(raw) {
		raw = other
	}
	if !hasText(raw) {
		*to = ""
		return
	}
	inner := raw[1 : len(raw)-1]
	if string(inner) != *to || bytes.IndexByte(inner, '\\') >= 0 {
		*to = rawjson.Unescape(inner)
	}
}

// hasText reports whether raw is a string that is not empty.
func hasText(raw json.RawMessage) bool { return len(raw) > len(`""`) && raw[0] == '"' }

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
		r.refuse(&wire.Error{
			Code: wire.CodeBadData, Field: "data",
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
		problem := fmt.Sprintf("is %.32s, not between 0 and %d", raw, MaxTimeout.Milliseconds())
		r.refuse(badField("timeout_ms", problem, hint))
		return 0
	}
	return int64(n)
}

func badField(name, problem, hint string) *wire.Error {
	return &wire.Error{Code: wire.CodeBadField, Message: "field `" + name + "` " + problem, Hint: hint, Field: name}
}

// invalid says where and why line is no JSON object.
func invalid(line []byte) *wire.Error {
	e := &wire.Error{Code: wire.CodeBadJSON, Hint: `send one JSON object per line or request, e.g. {"event":"agent:end","data":{}}`}
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

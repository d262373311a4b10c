package stream

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// The beginning of an event's record, and what stands between its number and its id.
const (
	numberKey = `{"type":"event","seq":`
	idKey     = `,"event_id":"`
)

// envelopeRoom is about what a record takes beside the data.
const envelopeRoom = 512

// EventRecord encodes an accepted event as
//
//	{"type":"event","seq":17,"event_id":…,"event":…,"time":…,"data":{…}}
//
// with what the sender said about itself. e.Seq is not read: the number is
// the one that Publish gives.
func EventRecord(e *events.Event) Encoder {
	return func(seq uint64, dst []byte) []byte { return appendWhole(dst, seq, e) }
}

func appendWhole(dst []byte, seq uint64, e *events.Event) []byte {
	dst = slices.Grow(dst, envelopeRoom+len(e.Data))
	return appendData(append(appendEvent(dst, seq, e), dataKey...), e)
}

// appendData appends what stands behind dataKey.
func appendData(dst []byte, e *events.Event) []byte {
	if len(e.Data) == 0 {
		dst = append(dst, "{}"...)
	}
	dst = append(dst, e.Data...)
	return append(dst, '}')
}

// template is the record of the event before this one, up to its data. A sender of many events
// repeats all of it but number and id: to copy it takes a third of the time.
type template struct {
	of     *events.Event // nil = there was none yet
	text   []byte
	digits int // of its number
}

// append appends the part of the record of e before its data. The number of e follows that of
// the event before.
func (t *template) append(dst []byte, e *events.Event) []byte {
	start := len(dst)
	dst, same := t.repeat(dst, e)
	if !same {
		dst = append(appendEvent(dst, e.Seq, e), dataKey...)
		t.digits = bytes.IndexByte(dst[start+len(numberKey):], ',')
	}
	t.of, t.text = e, dst[start:]
	return dst
}

// repeat appends text with the number and id of e; it is false, and appends nothing, where they
// are not all that differs.
func (t *template) repeat(dst []byte, e *events.Event) ([]byte, bool) {
	if t.of == nil || len(e.EventID) != len(t.of.EventID) || !sameEnvelope(t.of, e) {
		return dst, false
	}
	start := len(dst)
	dst = append(dst, t.text...)
	rest := dst[start+len(numberKey):]
	if !countUp(rest[:t.digits]) {
		return dst[:start], false
	}
	copy(rest[t.digits+len(idKey):], e.EventID)
	return dst, true
}

// countUp adds one to a decimal number, in its place: to write one and copy it takes ten times as
// long. It is false when the number has a digit too few for that.
func countUp(digits []byte) bool {
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i] < '9' {
			digits[i]++
			return true
		}
		digits[i] = '0'
	}
	return false
}

// sameEnvelope reports whether appendEnvelope writes the same of both.
func sameEnvelope(a, b *events.Event) bool {
	return a.Event == b.Event && a.Time == b.Time && a.Sender == b.Sender && a.Dialect == b.Dialect &&
		a.SessionID == b.SessionID && a.AgentID == b.AgentID && a.AgentName == b.AgentName && a.Cwd == b.Cwd &&
		a.Lane == b.Lane && a.Parent == b.Parent && a.ReplayOf == b.ReplayOf && a.Depth == b.Depth &&
		a.Tool == b.Tool && a.Subject == b.Subject && a.CallID == b.CallID && a.Tried == b.Tried
}

// LargeData is the size from which on an event's data is shown apart from the rest
// of its record: copying it would hold up the others that get a number.
const LargeData = 32 << 10

// PublishEvent publishes an accepted event, as EventRecord has it, and returns its
// number. data is EventData of an event whose data is large, which must not change any
// more; nil = it is not. What an Unread event is about is added when a subscriber
// reads its record.
func (h *Hub) PublishEvent(e *events.Event, data []byte) uint64 {
	encode := EventRecord(e)
	if data != nil {
		encode = EventHead(e)
	}
	if e.Unread && h.about != nil {
		return h.publish(e.Event, encode, data, about{e.Contract, e.Dialect})
	}
	return h.publish(e.Event, encode, data, about{})
}

// PublishEvents publishes accepted events with small data on one line, as EventRecord has
// them, one after the other, and gives each its number. Nothing comes between them, and
// subscribers wake once.
func (h *Hub) PublishEvents(es []*events.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var last template
	for _, e := range es {
		e.Seq = h.next
		r := h.slot()
		h.memory.event(r, e, &last)
		if e.Unread && h.about != nil {
			r.about = about{e.Contract, e.Dialect}
		}
		h.kept()
	}
	h.call()
}

// about is what it takes to look up later what an event is about; the zero value is
// that of a record which says so, or has nothing to say.
type about struct {
	contract *events.Contract
	dialect  events.Dialect
}

// dataKey begins the data in an event's record. No text before it has these bytes: in
// a text each quote stands behind a backslash.
const dataKey = `,"data":`

// appendUnread appends the record of an event with the tool and the subject that it
// lacks.
func (h *Hub) appendUnread(dst []byte, r *record) []byte {
	at := bytes.Index(r.line, []byte(dataKey))
	data := r.whole
	if data == nil {
		data = bytes.TrimRight(r.line[at+len(dataKey):], "\n")
		data = data[:len(data)-1] // the brace that ends the record
	}
	e := events.Event{Contract: r.about.contract}
	e.Envelope.Event, e.Dialect, e.Data = r.name, r.about.dialect, data
	h.about(&e)
	dst = rawjson.AppendText(append(dst, r.line[:at]...), "tool", e.Tool)
	dst = rawjson.AppendText(dst, "subject", e.Subject)
	return append(rawjson.AppendText(dst, "call_id", e.CallID), r.line[at:]...)
}

// EventHead and EventData are the two parts of EventRecord for PublishLarge.
func EventHead(e *events.Event) Encoder {
	return func(seq uint64, dst []byte) []byte { return append(appendEvent(dst, seq, e), dataKey...) }
}

// EventData returns data on one line: data itself, which must not change any
// more, or a copy where it has line ends.
func EventData(data []byte) []byte {
	for piece := range slices.Chunk(data, batchBytes) { // IndexByte holds up the garbage collector, and so all others
		if bytes.IndexByte(piece, '\n') >= 0 || bytes.IndexByte(piece, '\r') >= 0 {
			return blankLineEnds(bytes.Clone(data))
		}
	}
	return data
}

// BriefEventRecord encodes an event of whose data, size bytes, only the
// beginning is left:
//
//	{"type":"event",…,"data":{},"truncated":true,"bytes":4711,"preview":"{\"a"}
func BriefEventRecord(e *events.Event, size int, preview string) Encoder {
	return func(seq uint64, dst []byte) []byte {
		dst = append(appendEvent(dst, seq, e), `,"data":{},"truncated":true,"bytes":`...)
		dst = strconv.AppendInt(dst, int64(size), 10)
		dst = rawjson.AppendText(dst, "preview", preview)
		return append(dst, '}')
	}
}

func appendEvent(dst []byte, seq uint64, e *events.Event) []byte {
	return appendEnvelope(appendNumber(dst, seq, e), e)
}

func appendNumber(dst []byte, seq uint64, e *events.Event) []byte {
	dst = append(dst, numberKey...)
	dst = strconv.AppendUint(dst, seq, 10)
	dst = append(dst, idKey...)
	dst = append(dst, e.EventID...)
	return append(dst, '"')
}

func appendEnvelope(dst []byte, e *events.Event) []byte {
	dst = rawjson.AppendText(dst, "event", e.Event)
	dst = append(dst, `,"time":"`...)
	dst = rawjson.AppendTime(dst, e.Time)
	dst = append(dst, '"')
	dst = rawjson.AppendText(dst, "sender", e.Sender)
	dst = rawjson.AppendText(dst, "dialect", string(e.Dialect))
	dst = rawjson.AppendText(dst, "session_id", e.SessionID)
	dst = rawjson.AppendText(dst, "agent_id", e.AgentID)
	dst = rawjson.AppendText(dst, "agent_name", e.AgentName)
	dst = rawjson.AppendText(dst, "cwd", e.Cwd)
	dst = rawjson.AppendText(dst, "lane", e.Lane)
	dst = rawjson.AppendText(dst, "parent", e.Parent)
	dst = rawjson.AppendText(dst, "replay_of", e.ReplayOf)
	dst = rawjson.AppendTrue(dst, "tried", e.Tried)
	dst = rawjson.AppendInt(dst, "depth", int64(e.Depth))
	dst = rawjson.AppendText(dst, "tool", e.Tool)
	dst = rawjson.AppendText(dst, "subject", e.Subject)
	return rawjson.AppendText(dst, "call_id", e.CallID)
}

// DecisionRecord encodes a decision as
//
//	{"type":"verdict","seq":20,"event_id":…,"decision":"deny","reason":…,…}
//
// d.Seq is not read: the number is the one that Publish gives.
func DecisionRecord(d *wire.Decision) Encoder {
	return func(seq uint64, dst []byte) []byte {
		dst = append(dst, `{"type":"verdict","seq":`...)
		dst = strconv.AppendUint(dst, seq, 10)
		return append(d.AppendJSON(dst), '}')
	}
}

// RunRecord encodes a finished run as
//
//	{"type":"run","seq":19,"run_id":…,"event_id":…,"hook":…,"result":"ok",…}
//
// with the counts of its output but not the text, which a reader looks up by
// run_id: the ring is for many. r.Seq is not read: the number is the one that
// Publish gives.
func RunRecord(r *wire.Run) Encoder {
	return func(seq uint64, dst []byte) []byte {
		dst = append(dst, `{"type":"run","seq":`...)
		dst = strconv.AppendUint(dst, seq, 10)
		return append(r.AppendDetail(r.AppendSubject(dst)), '}')
	}
}

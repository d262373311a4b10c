package stream

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// The beginning of an event's record, and the text between its number and its id.
const (
	numberKey = `{"type":"event","seq":`
	idKey     = `,"event_id":"`
)

// envelopeRoom is about the size of a record without its data.
const envelopeRoom = 512

// EventRecord encodes an accepted event as
//
//	{"type":"event","seq":17,"event_id":…,"event":…,"time":…,"data":{…}}
//
// with the sender's facts about itself. e.Seq is not read: the number is
// the number that Publish gives.
func EventRecord(e *events.Event) Encoder {
	return func(seq uint64, dst []byte) []byte { return appendWhole(dst, seq, e) }
}

func appendWhole(dst []byte, seq uint64, e *events.Event) []byte {
	dst = slices.Grow(dst, envelopeRoom+len(e.Data))
	return appendData(append(appendEvent(dst, seq, e), dataKey...), e)
}

// appendData appends the data behind dataKey.
func appendData(dst []byte, e *events.Event) []byte {
	if len(e.Data) == 0 {
		dst = append(dst, "{}"...)
	}
	dst = append(dst, e.Data...)
	return append(dst, '}')
}

// LargeData is the size from which on an event's data is shown apart from the rest
// of its record: copying it would hold up the others that get a number.
const LargeData = 32 << 10

// PublishEvent publishes an accepted event, as EventRecord has it, and returns its
// number. data is EventData of an event whose data is large, which must not change any
// more; nil = it is not. The tool and subject of an Unread event are added when a subscriber
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

// about has the keys to look up the tool and subject of an event later; the zero value is
// for a record that has them, or has none.
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
// d.Seq is not read: the number is the number that Publish gives.
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
// run_id: the ring is for many. r.Seq is not read: the number is the number that
// Publish gives.
func RunRecord(r *wire.Run) Encoder {
	return func(seq uint64, dst []byte) []byte {
		dst = append(dst, `{"type":"run","seq":`...)
		dst = strconv.AppendUint(dst, seq, 10)
		return append(r.AppendDetail(r.AppendSubject(dst)), '}')
	}
}

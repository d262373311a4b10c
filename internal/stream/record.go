package stream

import (
	"slices"
	"strconv"

	"github.com/hookd/hookd/internal/events"
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
	return func(seq uint64, dst []byte) []byte {
		dst = slices.Grow(dst, envelopeRoom+len(e.Data))
		dst = append(appendEvent(dst, seq, e), `,"data":`...)
		if len(e.Data) == 0 {
			dst = append(dst, "{}"...)
		}
		dst = append(dst, e.Data...)
		return append(dst, '}')
	}
}

// BriefEventRecord encodes an event of whose data, size bytes, only the
// beginning is left:
//
//	{"type":"event",…,"data":{},"truncated":true,"bytes":4711,"preview":"{\"a"}
func BriefEventRecord(e *events.Event, size int, preview string) Encoder {
	return func(seq uint64, dst []byte) []byte {
		dst = append(appendEvent(dst, seq, e), `,"data":{},"truncated":true,"bytes":`...)
		dst = strconv.AppendInt(dst, int64(size), 10)
		dst = events.AppendText(dst, "preview", preview)
		return append(dst, '}')
	}
}

func appendEvent(dst []byte, seq uint64, e *events.Event) []byte {
	dst = append(dst, `{"type":"event","seq":`...)
	dst = strconv.AppendUint(dst, seq, 10)
	dst = append(dst, `,"event_id":"`...)
	dst = append(dst, e.EventID...)
	dst = events.AppendText(append(dst, '"'), "event", e.Event)
	dst = append(dst, `,"time":"`...)
	dst = events.AppendTime(dst, e.Time)
	dst = append(dst, '"')
	dst = events.AppendText(dst, "sender", e.Sender)
	dst = events.AppendText(dst, "dialect", string(e.Dialect))
	dst = events.AppendText(dst, "session_id", e.SessionID)
	dst = events.AppendText(dst, "agent_id", e.AgentID)
	dst = events.AppendText(dst, "agent_name", e.AgentName)
	dst = events.AppendText(dst, "cwd", e.Cwd)
	dst = events.AppendText(dst, "lane", e.Lane)
	dst = events.AppendText(dst, "parent", e.Parent)
	dst = events.AppendText(dst, "replay_of", e.ReplayOf)
	return events.AppendInt(dst, "depth", int64(e.Depth))
}

// RunRecord encodes a finished run as
//
//	{"type":"run","seq":19,"run_id":…,"event_id":…,"hook":…,"result":"ok",…}
//
// with the counts of its output but not the text, which a reader looks up by
// run_id: the ring is for many. r.Seq is not read: the number is the one that
// Publish gives.
func RunRecord(r *events.Run) Encoder {
	return func(seq uint64, dst []byte) []byte {
		dst = append(dst, `{"type":"run","seq":`...)
		dst = strconv.AppendUint(dst, seq, 10)
		return append(r.AppendDetail(r.AppendSubject(dst)), '}')
	}
}

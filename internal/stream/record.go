package stream

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/hookd/hookd/internal/events"
)

// EventRecord encodes an accepted event as
//
//	{"type":"event","seq":17,"event_id":…,"event":…,"time":…,"data":{…}}
//
// with what the sender said about itself. e.Seq is not read: the number is
// the one that Publish gives.
func EventRecord(e *events.Event) Encoder {
	return func(seq uint64, dst []byte) []byte {
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
		dst = appendField(dst, "preview", preview)
		return append(dst, '}')
	}
}

func appendEvent(dst []byte, seq uint64, e *events.Event) []byte {
	dst = append(dst, `{"type":"event","seq":`...)
	dst = strconv.AppendUint(dst, seq, 10)
	dst = appendField(dst, "event_id", e.EventID)
	dst = appendField(dst, "event", e.Event)
	dst = append(dst, `,"time":"`...)
	dst = e.Time.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, '"')
	dst = appendField(dst, "sender", e.Sender)
	dst = appendField(dst, "dialect", string(e.Dialect))
	dst = appendField(dst, "session_id", e.SessionID)
	dst = appendField(dst, "agent_id", e.AgentID)
	dst = appendField(dst, "agent_name", e.AgentName)
	dst = appendField(dst, "cwd", e.Cwd)
	dst = appendField(dst, "lane", e.Lane)
	dst = appendField(dst, "parent", e.Parent)
	dst = appendField(dst, "replay_of", e.ReplayOf)
	if e.Depth > 0 {
		dst = append(dst, `,"depth":`...)
		dst = strconv.AppendInt(dst, int64(e.Depth), 10)
	}
	return dst
}

// RunRecord encodes a finished run as
//
//	{"type":"run","seq":19,"run_id":…,"event_id":…,"hook":…,"result":"ok",…}
//
// with the counts of its output but not the text, which a reader looks up by
// run_id: the ring is for many.
func RunRecord(r *events.Run) Encoder {
	brief := *r
	brief.Seq = 0 // left out; Publish gives the number
	brief.Stdout = events.Output{Bytes: r.Stdout.Bytes}
	brief.Stderr = events.Output{Bytes: r.Stderr.Bytes}
	body, err := json.Marshal(brief)
	if err != nil {
		panic("stream: a run cannot be encoded: " + err.Error()) // its fields are plain
	}
	return func(seq uint64, dst []byte) []byte {
		dst = append(dst, `{"type":"run","seq":`...)
		dst = strconv.AppendUint(dst, seq, 10)
		dst = append(dst, ',')
		return append(dst, body[1:]...)
	}
}

// appendField appends a member, unless value is empty.
func appendField(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(dst, `,"`...)
	dst = append(dst, key...)
	dst = append(dst, `":`...)
	return appendString(dst, value)
}

func appendString(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // a string always can be
			return append(dst, quoted...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

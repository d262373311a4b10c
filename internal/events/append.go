package events

import (
	"bytes"
	"strconv"
	"sync/atomic"
	"time"
)

// Records are written by hand where each event costs one: encoding/json takes
// ten times as long. Tests hold what is written to what it would write.

// AppendKey appends the name of a member and its colon, after a comma unless
// the object at the end of dst has just begun.
func AppendKey(dst []byte, name string) []byte {
	if n := len(dst); n > 0 && dst[n-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	dst = append(dst, name...)
	return append(dst, '"', ':')
}

// AppendText appends a member, unless value is empty.
func AppendText(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	return AppendString(AppendKey(dst, name), value)
}

// AppendInt appends a member, unless value is 0.
func AppendInt(dst []byte, name string, value int64) []byte {
	if value == 0 {
		return dst
	}
	return strconv.AppendInt(AppendKey(dst, name), value, 10)
}

// AppendTrue appends a member, unless value is false.
func AppendTrue(dst []byte, name string, value bool) []byte {
	if !value {
		return dst
	}
	return append(AppendKey(dst, name), "true"...)
}

// AppendTime appends t in UTC, as time.RFC3339Nano has it.
func AppendTime(dst []byte, t time.Time) []byte {
	dst = append(dst, textOf(t)...)
	if rest := t.Nanosecond(); rest > 0 {
		fraction := [10]byte{'.'}
		for i := 9; i > 0; i-- {
			fraction[i] = byte('0' + rest%10)
			rest /= 10
		}
		dst = append(dst, bytes.TrimRight(fraction[:], "0")...)
	}
	return append(dst, 'Z')
}

// second is one second as text. Most records are of the same as the one before.
type second struct {
	unix int64
	text string
}

var lastSecond atomic.Pointer[second]

// textOf returns t without its fraction and zone.
func textOf(t time.Time) string {
	s := lastSecond.Load()
	if unix := t.Unix(); s == nil || s.unix != unix {
		s = &second{unix, t.UTC().Format("2006-01-02T15:04:05")}
		lastSecond.Store(s)
	}
	return s.text
}

// AppendSubject appends the members that say what ran, for what, when and with
// which result: those that runs are looked up by. Seq is not among them.
func (r *Run) AppendSubject(dst []byte) []byte {
	dst = AppendString(AppendKey(dst, "run_id"), r.ID)
	dst = AppendString(AppendKey(dst, "event_id"), r.EventID)
	dst = AppendString(AppendKey(dst, "event"), r.Event)
	dst = AppendString(AppendKey(dst, "hook"), r.Hook)
	dst = AppendText(dst, "session_id", r.SessionID)
	dst = AppendText(dst, "agent_id", r.AgentID)
	dst = AppendText(dst, "agent_name", r.AgentName)
	dst = AppendString(AppendKey(dst, "result"), string(r.Result))
	dst = append(AppendKey(dst, "started"), '"')
	return append(AppendTime(dst, r.Started), '"')
}

// AppendDetail appends all other members, of the output only how much there
// was.
func (r *Run) AppendDetail(dst []byte) []byte {
	dst = AppendText(dst, "given", r.Given)
	dst = AppendText(dst, "source", r.Source)
	dst = AppendText(dst, "digest", r.Digest)
	dst = AppendInt(dst, "generation", int64(r.Generation))
	dst = AppendText(dst, "sender", r.Sender)
	dst = AppendText(dst, "dialect", string(r.Dialect))
	dst = AppendText(dst, "spawned", r.Spawned)
	dst = AppendText(dst, "input", r.Input)
	dst = strconv.AppendInt(AppendKey(dst, "exit_code"), int64(r.ExitCode), 10)
	dst = AppendText(dst, "signal", r.Signal)
	dst = AppendText(dst, "error", r.Error)
	dst = AppendText(dst, "killed", r.Killed)
	dst = AppendInt(dst, "left", int64(r.Left))
	dst = strconv.AppendFloat(AppendKey(dst, "queue_ms"), r.QueueMS, 'f', -1, 64)
	dst = strconv.AppendFloat(AppendKey(dst, "duration_ms"), r.DurationMS, 'f', -1, 64)
	dst = appendBytes(AppendKey(dst, "stdout"), r.Stdout)
	return appendBytes(AppendKey(dst, "stderr"), r.Stderr)
}

func appendBytes(dst []byte, o Output) []byte {
	dst = append(dst, `{"bytes":`...)
	return append(strconv.AppendInt(dst, o.Bytes, 10), '}')
}

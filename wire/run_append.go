package wire

import (
	"strconv"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// AppendSubject appends the members that say which hook ran, for which event, when and
// with which result: the members that runs are looked up by. Seq is not among them.
func (r *Run) AppendSubject(dst []byte) []byte {
	dst = rawjson.AppendString(rawjson.AppendKey(dst, "run_id"), r.ID)
	dst = rawjson.AppendString(rawjson.AppendKey(dst, "event_id"), r.EventID)
	dst = rawjson.AppendString(rawjson.AppendKey(dst, "event"), r.Event)
	dst = rawjson.AppendString(rawjson.AppendKey(dst, "hook"), r.Hook)
	dst = rawjson.AppendText(dst, "session_id", r.SessionID)
	dst = rawjson.AppendText(dst, "agent_id", r.AgentID)
	dst = rawjson.AppendText(dst, "agent_name", r.AgentName)
	dst = rawjson.AppendText(dst, "tool", r.Tool)
	dst = rawjson.AppendText(dst, "subject", r.Subject)
	dst = rawjson.AppendTrue(dst, "test", r.Test)
	dst = rawjson.AppendString(rawjson.AppendKey(dst, "result"), string(r.Result))
	dst = append(rawjson.AppendKey(dst, "started"), '"')
	return append(rawjson.AppendTime(dst, r.Started), '"')
}

// AppendDetail appends all other members, of the output only how much there
// was.
func (r *Run) AppendDetail(dst []byte) []byte {
	dst = rawjson.AppendText(dst, "given", r.Given)
	dst = rawjson.AppendText(dst, "called", r.Called)
	dst = rawjson.AppendText(dst, "source", r.Source)
	dst = rawjson.AppendText(dst, "digest", r.Digest)
	dst = rawjson.AppendInt(dst, "generation", int64(r.Generation))
	dst = rawjson.AppendText(dst, "sender", r.Sender)
	dst = rawjson.AppendText(dst, "dialect", string(r.Dialect))
	dst = rawjson.AppendTrue(dst, "tried", r.Tried)
	dst = rawjson.AppendTrue(dst, "awaited", r.Awaited)
	dst = rawjson.AppendText(dst, "failure", string(r.Failure))
	dst = rawjson.AppendText(dst, "cause", r.Cause)
	dst = rawjson.AppendTrue(dst, "shadow", r.Shadow)
	dst = rawjson.AppendText(dst, "decision", string(r.Decision))
	dst = rawjson.AppendText(dst, "reason", r.Reason)
	dst = rawjson.AppendText(dst, "rule", r.Rule)
	if r.Span != [2]int{} {
		dst = append(strconv.AppendInt(append(rawjson.AppendKey(dst, "span"), '['), int64(r.Span[0]), 10), ',')
		dst = append(strconv.AppendInt(dst, int64(r.Span[1]), 10), ']')
	}
	dst = rawjson.AppendText(dst, "spawned", r.Spawned)
	dst = rawjson.AppendText(dst, "input", r.Input)
	dst = strconv.AppendInt(rawjson.AppendKey(dst, "exit_code"), int64(r.ExitCode), 10)
	dst = rawjson.AppendText(dst, "signal", r.Signal)
	dst = rawjson.AppendText(dst, "error", r.Error)
	dst = rawjson.AppendText(dst, "warning", r.Warning)
	dst = rawjson.AppendText(dst, "killed", r.Killed)
	dst = rawjson.AppendInt(dst, "left", int64(r.Left))
	dst = strconv.AppendFloat(rawjson.AppendKey(dst, "queue_ms"), r.QueueMS, 'f', -1, 64)
	dst = strconv.AppendFloat(rawjson.AppendKey(dst, "duration_ms"), r.DurationMS, 'f', -1, 64)
	dst = appendBytes(rawjson.AppendKey(dst, "stdout"), r.Stdout)
	return appendBytes(rawjson.AppendKey(dst, "stderr"), r.Stderr)
}

func appendBytes(dst []byte, o Output) []byte {
	dst = append(dst, `{"bytes":`...)
	return append(strconv.AppendInt(dst, o.Bytes, 10), '}')
}

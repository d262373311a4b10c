package dispatch

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match"
	"github.com/hookd/hookd/wire"
)

// runRecords makes the records of runs, and logs failures.
type runRecords struct {
	redact func([]byte) []byte // as Options.Redact
	log    *zap.Logger
}

// record makes the record of an attempt that has ended, except for its answer's part.
func (rc *runRecords) record(a *attempt, id string) wire.Run {
	e, m, out := a.event, a.match, a.out
	r := wire.Run{
		ID: id, EventID: e.EventID, Event: e.Envelope.Event, Hook: m.Hook.Name, Called: rc.clean(m.Hook.Called),
		Source: m.Hook.Source.String(),
		Digest: cmp.Or(out.Version, m.Hook.Digest), Generation: m.Generation,
		SessionID: e.SessionID, AgentID: e.AgentID, AgentName: e.AgentName, Sender: e.Sender,
		Dialect: e.Dialect, Tool: e.Tool, Subject: e.Subject,
		ExitCode: out.ExitCode, Signal: out.Signal, Killed: out.Killed, Left: out.Left,
		Started: out.Started.UTC(), QueueMS: ms(max(0, out.Started.Sub(e.Time))), DurationMS: ms(out.Duration),
		Stdout: out.Stdout, Stderr: out.Stderr,
	}
	if m.Given != r.Event {
		r.Given = m.Given
	}
	if m.Hook.Type == hook.Spawn {
		r.Spawned = m.Hook.SpawnAgent
	}
	r.Rule, r.Span = out.Rule, out.Span
	r.Tried, r.Test = e.Tried, e.Trial
	r.Input, r.Awaited = rc.preview(e), m.Blocks && !m.Shadow && e.Wait
	r.Shadow = m.Shadow
	return r
}

// preview is the beginning of a payload without secrets, cut where a character ends; where it is about a
// tool the call comes first, then the members around it. So much more is looked at that a secret is
// known which the cut goes through.
func (rc *runRecords) preview(e *events.Event) string {
	text := beginning(e, 2*wire.InputPreview)
	if rc.redact != nil {
		text = rc.redact(text)
	}
	return validPart(string(text[:min(len(text), wire.InputPreview)]))
}

// callWithin is how many bytes of a payload are searched for its tool.
const callWithin = 4 << 10

// beginning returns the first bytes of the payload of e, about most. They begin with the tool where it
// has one: agents write session and folders before, which are longer than a preview. The members before
// the tool follow if there is room.
func beginning(e *events.Event, most int) []byte {
	data, end := e.Data, beforeTool(e)
	if end == 0 {
		return data[:min(len(data), most)]
	}
	const blanks = " \t\r\n"
	call := data[end:min(len(data), end+most)]
	text := append([]byte("{"), bytes.TrimLeft(call, blanks+",")...)
	if end+len(call) < len(data) {
		return text
	}
	text = bytes.TrimRight(text, blanks)
	text = append(text[:len(text)-1], ',')
	return append(append(text, bytes.TrimLeft(data[:end], blanks+"{")...), '}')
}

// beforeTool returns where the members end that stand in the payload of e before the name and the input
// of its tool; 0 = none does, or it has no tool.
func beforeTool(e *events.Event) (end int) {
	name, input := match.ToolField(e.Contract), match.InputField(e.Contract)
	if name == "" {
		return 0
	}
	w := rawjson.Walk(e.Data[:min(len(e.Data), callWithin)])
	for w.Enter(); w.Member(); end = w.Pos() {
		if key := string(w.Name()); key == name || key == input {
			return end
		}
		w.Skip()
	}
	return 0
}

// validPart is text that was cut anywhere, without half a character.
func validPart(text string) string { return strings.ToValidUTF8(text, "") }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// report logs one WARN for a run that failed, never payloads or environment, of the
// output only the last line, without secrets.
func (rc *runRecords) report(r *attempt) {
	e, m := r.event, r.match
	if !r.warn && r.answer.Warning == "" {
		return
	}
	fields := []zap.Field{zap.String("hook", m.Hook.Name), zap.String("event", e.Envelope.Event)}
	switch {
	case !r.warn:
		fields = append(fields, zap.String("answer", r.answer.Warning))
	case r.run.Result == wire.ResultTimeout:
		fields = append(
			fields,
			zap.Duration("timeout", r.out.limit),
			zap.String("killed", r.run.Killed),
			zap.Int("left", r.run.Left),
		)
	case r.run.Result == wire.ResultSpawnError:
		fields = append(fields, zap.String("error", r.run.Error))
	case r.run.Signal != "":
		fields = append(fields, zap.String("signal", r.run.Signal))
	default:
		fields = append(fields, zap.Int("exit", r.run.ExitCode))
		if r.run.Error != "" {
			fields = append(fields, zap.String("error", r.run.Error))
		}
	}
	if r.warn {
		fields = append(fields, zap.String("see", "hookd log output "+m.Hook.Quoted()))
		if !m.Hook.Layer.Signed() {
			fields = append(fields, zap.String("off", "hookd disable "+m.Hook.Quoted()))
		}
	}
	rc.log.Warn(
		message(r.run.Result),
		append(fields, zap.Duration("dur", time.Duration(r.run.DurationMS*float64(time.Millisecond))),
			zap.String("event_id", e.EventID), zap.String("run_id", r.run.ID))...)
}

func message(r wire.Result) string {
	switch r {
	case wire.ResultTimeout:
		return "hook timed out"
	case wire.ResultSpawnError:
		return "hook did not start"
	case wire.ResultFailed:
		return "hook failed"
	default:
		return "hook answered oddly"
	}
}

func failed(r wire.Result) bool {
	return r == wire.ResultFailed || r == wire.ResultTimeout || r == wire.ResultSpawnError
}

// clean is a hook's text for a record: without secrets, and bounded.
func (rc *runRecords) clean(text string) string {
	if text == "" {
		return ""
	}
	if len(text) > 2*wire.ReasonBytes {
		text = text[:2*wire.ReasonBytes]
	}
	text = rc.redacted(text)
	if len(text) > wire.ReasonBytes {
		text = text[:wire.ReasonBytes]
	}
	return validPart(text)
}

func (rc *runRecords) redacted(text string) string {
	if rc.redact == nil {
		return text
	}
	return string(rc.redact([]byte(text)))
}

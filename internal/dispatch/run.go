package dispatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/dialect"
	"github.com/hookd/hookd/internal/dialect/familiar"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/verdict"
)

// observe runs one task of the observers' lane.
func (d *Dispatcher) observe(t *task) {
	defer d.pending.Done()
	t.tell(d.execute(t.event, t.event.Contract, t, t.match, t.event.Data, t.match.hook.Timeout).run)
}

func (t *task) tell(r events.Run) {
	if t.result != nil {
		t.result <- r
	}
}

// drop records a task that will never start.
func (d *Dispatcher) drop(t *task) {
	defer d.pending.Done()
	t.tell(d.unstarted(t.event, t.event.Contract, t, t.match, "hookd was stopped before its turn").run)
}

// execute runs hook m for e with the payload data, reads its answer, records
// the run and logs what went wrong. t is nil for a run that was never queued.
func (d *Dispatcher) execute(e *events.Event, c *events.Contract, t *task, m match, data json.RawMessage, timeout time.Duration) ran {
	job, over := d.job(e, c, t, m, data, timeout)
	out := d.run(job)
	over()
	return d.ran(e, c, t, m, job, out)
}

// job makes the job of one run, and what is to be called when it has ended.
func (d *Dispatcher) job(e *events.Event, c *events.Contract, t *task, m match, data json.RawMessage, timeout time.Duration) (job *Job, over func()) {
	job = &Job{
		RunID: events.NewRunID(time.Now()), Hook: m.hook, Event: e, Given: m.given,
		Timeout: timeout, Whole: d.whole(c, m), Awaited: t == nil || t.nested,
	}
	job.Payload, job.unfit = d.payload(e, m, data)
	if m.hook.Dialect == events.Familiar {
		job.Output = d.outputs.Get(familiar.Conversation(e), time.Now())
	}
	if t != nil && t.kept && !m.hook.Persistent { // a line is not worth a note of its own on disk
		d.recorder.Started(t.key(), job.RunID, time.Now())
	}
	if m.hook.Persistent {
		return job, d.chain.busy(e.Depth)
	}
	known, ended := func() {}, func() {}
	job.Starting = func() { known = d.chain.starting(e.Depth) }
	job.Started = func(p Process) { ended = d.chain.started(p, e.Depth, m.hook.ID); known() }
	return job, func() { known(); ended() }
}

// ran reads the answer of a job that has ended, records the run and logs what
// went wrong.
func (d *Dispatcher) ran(e *events.Event, c *events.Contract, t *task, m match, job *Job, out Outcome) ran {
	out.limit = job.Timeout.Round(time.Millisecond)
	r := ran{match: m, run: record(e, m, job.RunID, out), job: job, out: out}
	d.judge(e, c, &r)
	d.report(e, r)
	d.opts.Tap.Ran(e, r.run, out.Err)
	d.finish(t, r.run, out)
	return r
}

// payload is data, the event's as rewritten so far, in the words of the name
// that the hook is given. A panic in finding them costs one run, not the daemon.
func (d *Dispatcher) payload(e *events.Event, m match, data json.RawMessage) (payload json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			d.log.Error("panic in making a payload", zap.String("hook", m.hook.Name), zap.String("event_id", e.EventID), zap.Any("panic", p), zap.Stack("stack"))
			err = errInternal
		}
	}()
	if m.given == e.Contract.Name {
		return data, nil
	}
	now := *e
	now.Data = data
	return dialect.Payload(&now, m.given, d.prompts.since), nil
}

var errInternal = errors.New("internal error, see hookd's log")

// judge reads the answer of a run and says how it ended, by the rules of the
// hook's dialect. A panic in reading it is a failure of the run: output that
// upsets hookd must not end it, and again when the run has its next turn.
func (d *Dispatcher) judge(e *events.Event, c *events.Contract, r *ran) {
	defer func() {
		if p := recover(); p != nil {
			why := "its answer cannot be read: internal error, see hookd's log"
			d.log.Error("panic in reading an answer", zap.String("hook", r.match.hook.Name), zap.String("run_id", r.run.ID), zap.Any("panic", p), zap.Stack("stack"))
			r.answer, r.warn = verdict.Answer{Policy: r.match.policy(), Failure: why, ExitCode: r.out.ExitCode}, true
			r.run.Result, r.run.Error = events.ResultFailed, why
		}
	}()
	if r.match.hook.Dialect != events.Familiar {
		r.answer = dialect.Answer(e, r.match.given, d.read(c, r.match, r.out))
		r.run.Result, r.run.Error = result(r.match, r.out, r.answer, r.answer.Failure)
		r.warn = r.run.Result != events.ResultOK && r.run.Result != events.ResultBlock && r.match.hook.OnError != hook.OnErrorIgnore
		return
	}
	out := output(r.out)
	if !r.match.hook.Capture {
		out.Stdout = []byte(r.out.Stdout.Head + r.out.Stdout.Tail)
	}
	a := familiar.Read(e.Contract, familiar.Policy{Policy: r.match.policy(), Capture: r.match.hook.Capture}, out)
	d.outputs.Append(familiar.Conversation(e), a.Output, time.Now())
	r.answer, r.aborts, r.warn = a.Answer, a.Aborts, a.Failure != "" && !a.Silent
	if r.run.Result, r.run.Error = result(r.match, r.out, a.Answer, a.Failure); r.run.Result == events.ResultOK || r.run.Result == events.ResultFailed {
		r.run.Result = a.Result()
	}
}

// run calls the Runner. A panic in it costs one run, not the daemon.
func (d *Dispatcher) run(j *Job) (out Outcome) {
	defer func() {
		if p := recover(); p != nil {
			d.log.Error("panic in a run", zap.String("hook", j.Hook.Name), zap.String("run_id", j.RunID), zap.Any("panic", p), zap.Stack("stack"))
			out = unstartable(errInternal)
		}
	}()
	if j.unfit != nil {
		return unstartable(j.unfit)
	}
	return d.opts.Runner.Run(d.ctx, j)
}

// unstartable is the outcome of a job that never started.
func unstartable(err error) Outcome { return Outcome{Err: err, ExitCode: -1, Started: time.Now()} }

// reading is the contract that the hook's answer is read by; nil = its stdout
// is not an answer. Observers of an event that can be decided are read too: one
// that answers nonsense may be a guard that was meant to block.
func (m match) reading(c *events.Contract) *events.Contract {
	if m.reads != nil {
		c = m.reads
	}
	if !c.Decidable {
		return nil
	}
	return c
}

// whole is how many bytes of stdout the hook's answer may have.
func (d *Dispatcher) whole(c *events.Contract, m match) int {
	switch r := m.reading(c); {
	case m.hook.Capture:
		return d.opts.AnswerBytes
	case m.hook.Dialect == events.Familiar:
		return 0 // the kept part is enough for a message
	case r == nil:
		return 0
	case m.blocks && r.Rewrite != events.RewriteNone:
		return d.opts.RewriteBytes
	default:
		return d.opts.AnswerBytes
	}
}

// unstarted records a run that did not get a chance.
func (d *Dispatcher) unstarted(e *events.Event, c *events.Contract, t *task, m match, why string) ran {
	out := Outcome{TimedOut: true, ExitCode: -1, Started: time.Now(), limit: time.Since(e.Time).Round(time.Millisecond)}
	r := ran{match: m, run: record(e, m, events.NewRunID(out.Started), out), out: out}
	d.judge(e, c, &r)
	r.run.Result, r.run.Error = events.ResultTimeout, why
	d.report(e, r)
	d.opts.Tap.Ran(e, r.run, nil)
	d.conclude(t, r.run)
	return r
}

// finish hands the record over, at once or, when a background child still
// holds a pipe, once its late output is in.
func (d *Dispatcher) finish(t *task, r events.Run, out Outcome) {
	if out.Late == nil {
		d.conclude(t, r)
		return
	}
	d.pending.Add(1)
	go func() {
		defer d.pending.Done()
		r.Stdout, r.Stderr = out.Late()
		d.conclude(t, r)
	}()
}

func record(e *events.Event, m match, id string, out Outcome) events.Run {
	r := events.Run{
		ID: id, EventID: e.EventID, Event: e.Envelope.Event, Hook: m.hook.Name, Source: m.hook.Source.String(),
		Digest: m.hook.Digest, Generation: m.generation,
		SessionID: e.SessionID, AgentID: e.AgentID, AgentName: e.AgentName, Sender: e.Sender, Dialect: e.Dialect,
		ExitCode: out.ExitCode, Signal: out.Signal, Killed: out.Killed, Left: out.Left,
		Started: out.Started.UTC(), QueueMS: ms(max(0, out.Started.Sub(e.Time))), DurationMS: ms(out.Duration),
		Stdout: out.Stdout, Stderr: out.Stderr,
	}
	if m.given != r.Event {
		r.Given = m.given
	}
	if m.hook.Type == hook.Spawn {
		r.Spawned = m.hook.SpawnAgent
	}
	r.Input = preview(e.Data)
	return r
}

// preview is the beginning of a payload, cut where a character ends.
func preview(data json.RawMessage) string {
	if len(data) <= events.InputPreview {
		return string(data)
	}
	return strings.ToValidUTF8(string(data[:events.InputPreview]), "")
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// read reads the hook's answer.
func (d *Dispatcher) read(c *events.Contract, m match, out Outcome) verdict.Answer {
	c = m.reading(c)
	if c == nil || !m.blocks && out.Exceeded {
		return verdict.Answer{Policy: m.policy(), ExitCode: out.ExitCode}
	}
	if len(out.Whole) > d.opts.AnswerBytes && c.PlainText != events.PlainReplaces && !bytes.HasPrefix(bytes.TrimSpace(out.Whole), []byte("{")) {
		// Only a rewrite may be long, and text is none.
		out.Exceeded, out.Whole = true, out.Whole[:d.opts.AnswerBytes]
	}
	return verdict.Read(c, m.policy(), output(out))
}

// output puts an outcome into the form in which answers are read.
func output(out Outcome) verdict.Output {
	o := verdict.Output{ExitCode: out.ExitCode, Stdout: out.Whole, Stderr: []byte(out.Stderr.Head + out.Stderr.Tail)}
	switch {
	case out.Err != nil:
		o.Failure = out.Err.Error()
	case out.TimedOut:
		o.Failure = "timed out after " + out.limit.String()
	case out.Failure != "":
		o.Failure = out.Failure
	case out.Signal != "":
		o.Failure = "was ended by " + out.Signal
	case out.Exceeded:
		o.Failure = fmt.Sprintf("wrote more than %d bytes to stdout", len(out.Whole))
	}
	return o
}

// result classifies a run and says for people why it was not ok. Exit 2 is an
// answer only from a hook whose answers count.
func result(m match, out Outcome, a verdict.Answer, failure string) (events.Result, string) {
	switch {
	case out.Err != nil:
		return events.ResultSpawnError, out.Err.Error()
	case out.TimedOut:
		return events.ResultTimeout, "killed at its deadline"
	case out.Failure != "":
		return events.ResultFailed, out.Failure
	case out.Signal != "":
		return events.ResultFailed, "was ended by " + out.Signal
	case m.blocks && failure != "":
		return events.ResultFailed, failure
	case m.blocks && a.Blocked:
		return events.ResultBlock, ""
	case out.ExitCode != 0 && !m.blocks:
		return events.ResultFailed, fmt.Sprintf("exit status %d", out.ExitCode)
	case failure != "":
		return events.ResultFailed, failure
	}
	return events.ResultOK, ""
}

// report logs one WARN for a run that failed (SPEC 7.5), never payloads,
// output or environment.
func (d *Dispatcher) report(e *events.Event, r ran) {
	m := r.match
	if !r.warn && r.answer.Warning == "" {
		return
	}
	fields := []zap.Field{zap.String("hook", m.hook.Name), zap.String("event", e.Envelope.Event)}
	switch {
	case !r.warn:
		fields = append(fields, zap.String("answer", r.answer.Warning))
	case r.run.Result == events.ResultTimeout:
		fields = append(fields, zap.Duration("timeout", r.out.limit), zap.String("killed", r.run.Killed), zap.Int("left", r.run.Left))
	case r.run.Result == events.ResultSpawnError:
		fields = append(fields, zap.String("error", r.run.Error))
	case r.run.Signal != "":
		fields = append(fields, zap.String("signal", r.run.Signal))
	default:
		fields = append(fields, zap.Int("exit", r.run.ExitCode))
		if r.run.Error != "" {
			fields = append(fields, zap.String("error", r.run.Error))
		}
	}
	d.log.Warn(message(r.run.Result), append(fields, zap.Duration("dur", time.Duration(r.run.DurationMS*float64(time.Millisecond))),
		zap.String("event_id", e.EventID), zap.String("run_id", r.run.ID))...)
}

func message(r events.Result) string {
	switch r {
	case events.ResultTimeout:
		return "hook timed out"
	case events.ResultSpawnError:
		return "hook did not start"
	case events.ResultFailed:
		return "hook failed"
	default:
		return "hook answered oddly"
	}
}

package dispatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/match"
	"github.com/hookd/hookd/internal/verdict"
)

// observe runs one task of the observers' lane.
func (d *Dispatcher) observe(t *task, ended func()) {
	a := t.try()
	d.execute(a, func() {
		defer d.pending.Done()
		t.tell(a.run)
		ended()
	})
}

// attempt is one try at running a hook for an event: what it is given, and then
// how it went.
type attempt struct {
	event    *events.Event
	contract *events.Contract // of the lane that it stands in
	match    match.Match
	data     json.RawMessage // of the event, as rewritten so far
	timeout  time.Duration
	task     *task // nil when it was never queued

	job    *Job    // nil when it never came to that
	out    Outcome // of the job
	run    events.Run
	answer verdict.Answer
	aborts bool // no later hook of the same file runs
	warn   bool // its failure is worth a WARN
}

// try makes the next attempt at a queued run.
func (t *task) try() *attempt {
	e := t.event
	return &attempt{
		event:    e,
		contract: e.Contract,
		match:    t.match,
		data:     e.Data,
		timeout:  t.match.Hook.Timeout,
		task:     t,
	}
}

func (t *task) tell(r events.Run) {
	if t.result != nil {
		t.result <- r
	}
}

// drop records a task that will never start.
func (d *Dispatcher) drop(t *task) {
	defer d.pending.Done()
	t.tell(d.unstarted(t.try(), "hookd was stopped before its turn").run)
}

// execute makes an attempt: it runs the hook, reads its answer, records the run
// and logs what went wrong. end is called once after that, maybe before execute
// returns: a Runner that is held by files that do not answer is not waited for. A
// queued run that could not start for want of a process goes back to the queue
// instead.
func (d *Dispatcher) execute(a *attempt, end func()) {
	over := d.prepareJob(a)
	d.bounded(a.job, func(out Outcome) {
		over()
		if out.Short && d.putOff(a.task) {
			return
		}
		d.end(a, out)
		end()
	})
}

// prepareJob makes the job of an attempt, and returns what is to be called when it
// has ended.
func (d *Dispatcher) prepareJob(a *attempt) (over func()) {
	e, m, t, now := a.event, a.match, a.task, time.Now()
	job := &Job{
		RunID: events.NewRunID(now), Hook: m.Hook, Rules: m.Rules, Event: e, Given: m.Given,
		Timeout: a.timeout, Latest: now.Add(a.timeout + startTime),
		Whole: d.whole(a.contract, m), Awaited: t == nil || t.nested,
		stage: &stage{}, pid: new(atomic.Int64),
	}
	a.job, job.Data = job, a.data
	job.Looks, job.Inside = job.stage.looks, job.stage.runs
	job.Payload, job.unfit = d.payload(e, m, a.data)
	job.Place = m.Rules.Place(e)
	if m.Rules.Read != nil {
		job.Output = d.outputs.get(m.Rules.Conversation(e), now)
	}
	if t != nil && t.kept && !m.Hook.Persistent { // a line is not worth a note of its own on disk
		d.recorder.Started(t.key(), job.RunID, now)
	}
	var known func() // ends what the chain knows of it
	if m.Hook.Persistent {
		known = d.chain.busy(e.Depth)
	} else {
		l := &lineage{chain: d.chain, depth: e.Depth, hook: m.Hook.ID}
		job.Starting = l.starting
		job.Started = func(p Process) { job.pid.Store(int64(p.PID)); job.stage.runs(); l.started(p) }
		known = l.end
	}
	d.begin(job)
	return func() {
		d.leave(job)
		known()
	}
}

// end reads the answer of an attempt whose job has ended, records the run and logs
// what went wrong.
func (d *Dispatcher) end(a *attempt, out Outcome) {
	out.limit = a.job.Timeout.Round(time.Millisecond)
	if out.Err == nil && a.job.killed() {
		out.TimedOut, out.Failure = false, errKilled.Error()
	}
	a.out, a.run = out, record(a.event, a.match, a.job.RunID, out)
	d.readAnswer(a)
	d.report(a)
	d.tell(a, out.Err)
	d.finish(a.task, a.run, out)
}

// tell tells the Tap of a run that was no test.
func (d *Dispatcher) tell(a *attempt, err error) {
	if !a.run.Test {
		d.opts.Tap.Ran(a.event, a.run, err)
	}
}

// payload is data, the event's as rewritten so far, in the words of the name
// that the hook is given. A panic in finding them costs one run, not the daemon.
func (d *Dispatcher) payload(
	e *events.Event,
	m match.Match,
	data json.RawMessage,
) (payload json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			d.log.Error(
				"panic in making a payload",
				zap.String("hook", m.Hook.Name),
				zap.String("event_id", e.EventID),
				zap.Any("panic", p),
				zap.Stack("stack"),
			)
			err = errInternal
		}
	}()
	now := *e
	now.Data = data
	return dialect.Payload(&now, m.Given, d.prompts.since), nil
}

var errInternal = errors.New("internal error, see hookd's log")

// readAnswer reads the answer of a run and says how it ended, by the rules of the
// hook's dialect. A panic in reading it is a failure of the run: output that
// upsets hookd must not end it, and again when the run has its next turn.
func (d *Dispatcher) readAnswer(a *attempt) {
	defer func() {
		if p := recover(); p != nil {
			why := "its answer cannot be read: internal error, see hookd's log"
			d.log.Error(
				"panic in reading an answer",
				zap.String("hook", a.match.Hook.Name),
				zap.String("run_id", a.run.ID),
				zap.Any("panic", p),
				zap.Stack("stack"),
			)
			a.answer, a.warn = verdict.Answer{Policy: a.match.Policy(), Failure: why, ExitCode: a.out.ExitCode}, true
			a.run.Result, a.run.Error = events.ResultFailed, why
		}
		d.note(a)
	}()
	rules := a.match.Rules
	if rules.Read == nil {
		a.answer = d.read(a.contract, a.match, a.out)
		if a.match.Hook.Type != hook.Builtin { // which answers in the event's own words
			now := *a.event
			now.Data = a.data
			a.answer = dialect.Answer(&now, a.match.Given, a.answer)
		}
		a.answer = a.answer.Tightened().Told(a.contract)
		a.warnUntold()
		a.run.Result, a.run.Error = result(a.match, a.out, a.answer, a.answer.Failure)
		a.warn = a.run.Result != events.ResultOK && a.run.Result != events.ResultBlock &&
			a.match.Hook.OnError != hook.OnErrorIgnore
		return
	}
	out := output(a.out)
	if !a.match.Hook.Capture {
		out.Stdout = []byte(a.out.Stdout.Head + a.out.Stdout.Tail)
	}
	read := rules.Read(a.event.Contract, a.match.Policy(), a.match.Hook.Capture, out)
	d.outputs.add(rules.Conversation(a.event), read.Output, time.Now())
	a.answer, a.aborts, a.warn = read.Answer, read.Aborts, read.Failure != "" && !read.Silent
	a.warnUntold()
	if a.run.Result, a.run.Error = result(a.match, a.out, read.Answer, read.Failure); a.run.Result == events.ResultOK ||
		a.run.Result == events.ResultFailed {
		a.run.Result = read.Result
	}
}

// warnUntold puts into the answer and the record what the agent is not told of it.
func (a *attempt) warnUntold() {
	a.answer = a.answer.Warned(dialect.Untold(a.event, a.contract, a.answer)...)
	a.run.Warning = a.answer.Warning
}

// run calls the Runner. A panic in it costs one run, not the daemon.
func (d *Dispatcher) run(j *Job) (out Outcome) {
	defer func() {
		if p := recover(); p != nil {
			d.log.Error(
				"panic in a run",
				zap.String("hook", j.Hook.Name),
				zap.String("run_id", j.RunID),
				zap.Any("panic", p),
				zap.Stack("stack"),
			)
			out = unstartable(errInternal)
		}
	}()
	if j.unfit != nil {
		return unstartable(j.unfit)
	}
	return d.opts.Runner.Run(j.ctx, j)
}

// unstartable is the outcome of a job that never started.
func unstartable(err error) Outcome { return Outcome{Err: err, ExitCode: -1, Started: time.Now()} }

// whole is how many bytes of stdout the hook's answer may have.
func (d *Dispatcher) whole(c *events.Contract, m match.Match) int {
	switch r := m.Reading(c); {
	case m.Hook.Capture:
		return d.opts.AnswerBytes
	case m.Rules.Read != nil:
		return 0 // the kept part is enough for a message
	case r == nil:
		return 0
	case m.Blocks && r.Rewrite != events.RewriteNone:
		return d.opts.RewriteBytes
	default:
		return d.opts.AnswerBytes
	}
}

// unstarted records an attempt that did not get a chance, and returns it.
func (d *Dispatcher) unstarted(a *attempt, why string) *attempt {
	e := a.event
	out := Outcome{
		TimedOut: true,
		Stalled:  why,
		ExitCode: -1,
		Started:  time.Now(),
		limit:    time.Since(e.Time).Round(time.Millisecond),
	}
	a.out, a.run = out, record(e, a.match, events.NewRunID(out.Started), out)
	d.readAnswer(a)
	a.run.Result, a.run.Error = events.ResultTimeout, why
	d.report(a)
	d.tell(a, nil)
	d.conclude(a.task, a.run)
	return a
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

func record(e *events.Event, m match.Match, id string, out Outcome) events.Run {
	r := events.Run{
		ID: id, EventID: e.EventID, Event: e.Envelope.Event, Hook: m.Hook.Name, Source: m.Hook.Source.String(),
		Digest: m.Hook.Digest, Generation: m.Generation,
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
	r.Test = e.Trial
	r.Input, r.Awaited = preview(e.Data), m.Blocks && e.Wait
	return r
}

// preview is the beginning of a payload, cut where a character ends.
func preview(data json.RawMessage) string {
	return validPart(string(data[:min(len(data), events.InputPreview)]))
}

// validPart is text that was cut anywhere, without half a character.
func validPart(text string) string { return strings.ToValidUTF8(text, "") }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// read reads the hook's answer.
func (d *Dispatcher) read(c *events.Contract, m match.Match, out Outcome) verdict.Answer {
	c = m.Reading(c)
	if c == nil || !m.Blocks && out.Exceeded {
		return verdict.Answer{Policy: m.Policy(), ExitCode: out.ExitCode}
	}
	if len(out.Whole) > d.opts.AnswerBytes && c.PlainText != events.PlainReplaces &&
		!bytes.HasPrefix(bytes.TrimSpace(out.Whole), []byte("{")) {
		// Only a rewrite may be long, and text is none.
		out.Exceeded, out.Whole = true, out.Whole[:d.opts.AnswerBytes]
	}
	return verdict.Read(c, m.Policy(), output(out))
}

// output puts an outcome into the form in which answers are read.
func output(out Outcome) verdict.Output {
	o := verdict.Output{ExitCode: out.ExitCode, Stdout: out.Whole, Stderr: []byte(out.Stderr.Head + out.Stderr.Tail)}
	switch {
	case out.Err != nil:
		o.Failure = out.Err.Error()
	case out.TimedOut && out.Stalled != "":
		o.Failure = "timed out after " + out.limit.String() + ": " + out.Stalled
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
func result(m match.Match, out Outcome, a verdict.Answer, failure string) (events.Result, string) {
	switch {
	case out.Err != nil:
		return events.ResultSpawnError, out.Err.Error()
	case out.TimedOut && out.Stalled != "":
		return events.ResultTimeout, out.Stalled
	case out.TimedOut:
		return events.ResultTimeout, "killed at its deadline"
	case out.Failure != "":
		return events.ResultFailed, out.Failure
	case out.Signal != "":
		return events.ResultFailed, "was ended by " + out.Signal
	case m.Blocks && failure != "":
		return events.ResultFailed, failure
	case m.Blocks && a.Blocked:
		return events.ResultBlock, ""
	case out.ExitCode != 0 && !m.Blocks:
		return events.ResultFailed, fmt.Sprintf("exit status %d", out.ExitCode)
	case failure != "":
		return events.ResultFailed, failure
	}
	return events.ResultOK, ""
}

// report logs one WARN for a run that failed, never payloads or environment, of the
// output only the last line, without secrets.
func (d *Dispatcher) report(r *attempt) {
	e, m := r.event, r.match
	if !r.warn && r.answer.Warning == "" {
		return
	}
	fields := []zap.Field{zap.String("hook", m.Hook.Name), zap.String("event", e.Envelope.Event)}
	switch {
	case !r.warn:
		fields = append(fields, zap.String("answer", r.answer.Warning))
	case r.run.Result == events.ResultTimeout:
		fields = append(
			fields,
			zap.Duration("timeout", r.out.limit),
			zap.String("killed", r.run.Killed),
			zap.Int("left", r.run.Left),
		)
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
	if r.warn {
		fields = append(
			fields,
			zap.String("see", "hookd logs "+m.Hook.Quoted()),
			zap.String("off", "hookd disable "+m.Hook.Quoted()),
		)
	}
	d.log.Warn(
		message(r.run.Result),
		append(fields, zap.Duration("dur", time.Duration(r.run.DurationMS*float64(time.Millisecond))),
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

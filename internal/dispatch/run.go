package dispatch

import (
	"encoding/json"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// observe runs one task of the observers' lane.
func (d *Dispatcher) observe(t *task, ended func(late bool)) {
	a := t.try()
	d.execute(a, func(late bool) {
		defer d.pending.Done()
		t.report(a.run)
		ended(late)
	})
}

// execute makes an attempt: it runs the hook, reads its answer, records the run
// and logs its failures. end is called once after that: late and by another goroutine
// when the Runner is held by files that do not answer, which is not waited for, else at
// last. A queued run that could not start because no process was available goes back to the
// queue instead.
func (d *Dispatcher) execute(a *attempt, end func(late bool)) {
	over := d.prepareJob(a)
	d.bounded(a.job, func(out Outcome, late bool) {
		over()
		if out.Short && d.putOff(a.task) {
			return
		}
		d.end(a, out)
		end(late)
	})
}

// prepareJob makes the job of an attempt, and returns the function to call when it
// has ended.
func (d *Dispatcher) prepareJob(a *attempt) (over func()) {
	e, m, t, now := a.event, a.match, a.task, time.Now()
	job := &Job{
		RunID: events.NewRunID(now), Hook: m.Hook, Rules: m.Rules, Event: e, Given: m.Given,
		Timeout: a.timeout, Latest: now.Add(a.timeout + startTime),
		Whole: d.whole(a), Awaited: t == nil || t.nested,
		progress: &progress{},
	}
	a.job, job.Data = job, a.data
	job.Looks, job.Inside = job.stage.looks, job.stage.runs
	job.Payload, job.unfit = d.payload(a)
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
// its failures.
func (d *Dispatcher) end(a *attempt, out Outcome) {
	out.limit = a.job.Timeout.Round(time.Millisecond)
	if out.Err == nil && d.killed(a.job) {
		out.TimedOut, out.Failure = false, errKilled.Error()
	}
	a.out = out
	a.run = d.record(a, a.job.RunID)
	d.readAnswer(a)
	d.report(a)
	if why := d.suspicious(a); why != "" && d.opts.Suspect != nil {
		d.opts.Suspect(a.match.Hook, why)
	}
	d.opts.Tap.Ran(a.event, a.run, a.out.Err)
	d.finish(a)
}

// payload is the event's data, as rewritten so far, in the words of the name that
// the hook is given. A panic in finding them costs one run, not the daemon.
func (d *Dispatcher) payload(a *attempt) (payload json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			d.log.Error(
				"panic in making a payload",
				zap.String("hook", a.match.Hook.Name),
				zap.String("event_id", a.event.EventID),
				zap.Any("panic", p),
				zap.Stack("stack"),
			)
			err = errInternal
		}
	}()
	return dialect.Payload(a.current(), a.match.Given, d.prompts.since), nil
}

var errInternal = errors.New("internal error, see hookd's log")

// unstarted records an attempt that did not get a chance, and returns it.
func (d *Dispatcher) unstarted(a *attempt, why string) *attempt {
	a.out = Outcome{
		TimedOut: true,
		Stalled:  why,
		ExitCode: -1,
		Started:  time.Now(),
		limit:    time.Since(a.event.Time).Round(time.Millisecond),
	}
	a.run = d.record(a, events.NewRunID(a.out.Started))
	d.readAnswer(a)
	a.run.Result, a.run.Error = wire.ResultTimeout, why
	d.report(a)
	d.opts.Tap.Ran(a.event, a.run, a.out.Err)
	d.conclude(a.task, a.run)
	return a
}

// finish hands the record over, at once or, when a background child still
// holds a pipe, once its late output is in.
func (d *Dispatcher) finish(a *attempt) {
	if a.out.Late == nil {
		d.conclude(a.task, a.run)
		return
	}
	t, r, late := a.task, a.run, a.out.Late // a copy of the run that only a late one takes
	recorded := make(chan struct{})
	a.recorded = recorded
	d.pending.Add(1)
	go func() {
		defer d.pending.Done()
		defer close(recorded)
		r.Stdout, r.Stderr = late()
		d.conclude(t, r)
	}()
}

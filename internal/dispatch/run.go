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

// runs makes attempts: it runs hooks, and has the answers read and recorded.
type runs struct {
	*lifetime
	reader  *reader
	records *runRecords
	retries *retries
	chain   *chain
	prompts *prompts

	underWay underWay
	stalls   stalls
	alarms   alarms // of runs that do not come back in time
}

// observe runs one task of the observers' queue.
func (rn *runs) observe(t *task, putOff func() bool, ended func(late bool)) {
	a := t.newAttempt()
	rn.execute(a, putOff, func(late bool) {
		defer rn.pending.Done()
		t.report(a.run)
		ended(late)
	})
}

// execute makes an attempt: it runs the hook, reads its answer, records the run
// and logs its failures. end is called once after that: late and by another goroutine
// when the Runner is held by files that do not answer, which is not waited for, otherwise
// as the last step. An attempt that could not start because no process was available is left to putOff, unless
// that is nil or returns false.
func (rn *runs) execute(a *attempt, putOff func() bool, end func(late bool)) {
	over := rn.prepareJob(a)
	rn.bounded(a.job, func(out JobResult, late bool) {
		over()
		if out.Short && putOff != nil && putOff() {
			return
		}
		rn.end(a, out)
		end(late)
	})
}

// prepareJob makes the job of an attempt, and returns the function to call when it
// has ended.
func (rn *runs) prepareJob(a *attempt) (over func()) {
	e, m, t, now := a.event, a.match, a.task, time.Now()
	job := &Job{
		RunID: events.NewRunID(now), Hook: m.Hook, Rules: m.Rules, Event: e, Given: m.Given,
		Timeout: a.timeout, Latest: now.Add(a.timeout + startTime),
		Whole: rn.reader.whole(a), Awaited: t == nil || t.nested,
		progress: &progress{},
	}
	a.job, job.Data = job, a.data
	job.Looks, job.Inside = job.stage.looks, job.stage.runs
	job.Payload, job.unfit = rn.payload(a)
	job.Place = m.Rules.Place(e)
	if m.Rules.Read != nil {
		job.Output = rn.reader.outputs.get(m.Rules.Conversation(e), now)
	}
	if t != nil && t.durable && !m.Hook.Persistent { // a line is not worth a note of its own on disk
		rn.recorder.Started(t.key(), job.RunID, now)
	}
	var known func() // ends what the chain knows of it
	if m.Hook.Persistent {
		known = rn.chain.busy(e.Depth)
	} else {
		l := &lineage{chain: rn.chain, depth: e.Depth, hook: m.Hook.ID}
		job.Starting = l.starting
		job.Started = func(p Process) { job.pid.Store(int64(p.PID)); job.stage.runs(); l.started(p) }
		known = l.end
	}
	rn.begin(job, rn.lifeOf(a))
	return func() {
		rn.leave(job)
		known()
	}
}

// end reads the answer of an attempt whose job has ended, records the run and logs
// its failures.
func (rn *runs) end(a *attempt, out JobResult) {
	out.limit = a.job.Timeout.Round(time.Millisecond)
	if out.Err == nil && rn.killed(a.job) {
		out.TimedOut, out.Failure = false, errKilled.Error()
	} else if out.stopped = out.ExitCode == -1 && rn.gaveUp(a); out.stopped {
		out.Err, out.TimedOut, out.Failure = nil, false, errStopped.Error()
	}
	a.out = out
	a.run = rn.records.record(a, a.job.RunID)
	rn.reader.readAnswer(a)
	rn.records.report(a)
	sound := a.match.Blocks && (a.run.Result == wire.ResultOK || a.run.Result == wire.ResultDeny)
	if why := rn.reader.suspicious(a); (why != "" || sound) && rn.opts.Suspect != nil {
		rn.opts.Suspect(a.match.Hook, a.event.Tool, why)
	}
	rn.opts.Tap.Ran(a.event, a.run, a.out.Err)
	rn.finish(a)
}

// payload is the event's data, as rewritten so far, in the words of the name that
// the hook is given. A panic in finding them costs one run, not the daemon.
func (rn *runs) payload(a *attempt) (payload json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			rn.log.Error(
				"panic in making a payload",
				zap.String("hook", a.match.Hook.Name),
				zap.String("event_id", a.event.EventID),
				zap.Any("panic", p),
				zap.Stack("stack"),
			)
			err = errInternal
		}
	}()
	return dialect.Payload(a.current(), a.match.Given, rn.prompts.since), nil
}

var errInternal = errors.New("internal error, see hookd's log")

// unstarted records an attempt that did not get a chance, and returns it.
func (rn *runs) unstarted(a *attempt, why string) *attempt {
	a.out = JobResult{
		TimedOut: true,
		Stalled:  why,
		ExitCode: -1,
		Started:  time.Now(),
		limit:    time.Since(a.event.Time).Round(time.Millisecond),
		stopped:  rn.gaveUp(a),
	}
	a.run = rn.records.record(a, events.NewRunID(a.out.Started))
	rn.reader.readAnswer(a)
	if !a.out.stopped {
		a.run.Result, a.run.Error = wire.ResultTimeout, why
	}
	rn.records.report(a)
	rn.opts.Tap.Ran(a.event, a.run, a.out.Err)
	rn.retries.conclude(a.task, a.run)
	return a
}

// merged records a task that does not run, as another one stands for it.
func (rn *runs) merged(t *task, why string) {
	now := time.Now()
	a := t.newAttempt()
	a.out = JobResult{ExitCode: -1, Started: now}
	a.run = rn.records.record(a, events.NewRunID(now))
	a.run.Result, a.run.Reason = wire.ResultMerged, why
	rn.retries.conclude(t, a.run)
	t.report(a.run)
}

// finish hands the record over, at once or, when a background child still
// holds a pipe, once its late output is in.
func (rn *runs) finish(a *attempt) {
	if a.out.Late == nil {
		rn.retries.conclude(a.task, a.run)
		return
	}
	t, r, late := a.task, a.run, a.out.Late // a copy of the run that only a late one takes
	recorded := make(chan struct{})
	a.recorded = recorded
	rn.pending.Go(func() {
		defer close(recorded)
		r.Stdout, r.Stderr = late()
		rn.retries.conclude(t, r)
	})
}

package dispatch

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookd/hookd/wire"
)

// underWay are the jobs that a Runner has.
type underWay struct {
	mu   sync.Mutex
	jobs map[*Job]struct{}
}

func (u *underWay) enter(j *Job) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.jobs == nil {
		u.jobs = map[*Job]struct{}{}
	}
	u.jobs[j] = struct{}{}
}

func (u *underWay) leave(j *Job) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.jobs, j)
}

// list returns the jobs, the oldest first.
func (u *underWay) list() []*Job {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.SortedFunc(maps.Keys(u.jobs), func(a, b *Job) int { return a.started.Compare(b.started) })
}

// Running returns the runs that have begun and not ended, the oldest first.
func (d *Dispatcher) Running() []wire.UnderWay {
	list := []wire.UnderWay{}
	for _, j := range d.runs.underWay.list() {
		list = append(list, j.underWay(time.Now()))
	}
	return list
}

func (j *Job) underWay(now time.Time) wire.UnderWay {
	e, slots := j.Event, "observers"
	if j.Awaited {
		slots = "decidable"
	}
	return wire.UnderWay{
		RunID: j.RunID, Hook: j.Hook.Name, Event: e.Envelope.Event, EventID: e.EventID, SessionID: e.SessionID,
		AgentID: e.AgentID, AgentName: e.AgentName, Dialect: e.Dialect, Tool: e.Tool, Subject: e.Subject,
		Slots: slots, PID: int(j.pid.Load()), Started: j.started.UTC(),
		AgeMS: ms(now.Sub(j.started)), LeftMS: ms(j.started.Add(j.Timeout).Sub(now)),
	}
}

// errKilled is why a job ends that a person has killed.
var errKilled = errors.New("was killed by `hookd kill`")

// Kill ends the run under way with this id, or the only one whose id ends or
// begins so, as at its deadline: it is recorded as failed, which denies where
// failures do. It does not wait for the end.
func (d *Dispatcher) Kill(id string) (wire.UnderWay, *wire.Error) {
	id = strings.ToUpper(id)
	var found []*Job
	for _, j := range d.runs.underWay.list() {
		if j.RunID == id {
			found = []*Job{j}
			break
		}
		if id != "" && (strings.HasSuffix(j.RunID, id) || strings.HasPrefix(j.RunID, id)) {
			found = append(found, j)
		}
	}
	switch {
	case len(found) == 0:
		return wire.UnderWay{}, &wire.Error{
			Code:    wire.CodeNotFound,
			Message: "no run " + id + " is under way",
			Hint:    "see `hookd log running`, and `hookd log output` for a run that has ended",
		}
	case len(found) > 1:
		return wire.UnderWay{}, &wire.Error{
			Code:    wire.CodeNotFound,
			Message: "more than one run under way has an id like " + id,
			Hint:    "give more of the id, see `hookd log running`",
		}
	}
	u := found[0].underWay(time.Now())
	if !d.runs.killJob(found[0]) {
		return wire.UnderWay{}, &wire.Error{
			Code:    wire.CodeNotFound,
			Message: "run " + u.RunID + " is just beginning or ending",
			Hint:    "see `hookd log running` whether it is still there, and try again",
		}
	}
	return u, nil
}

// killJob ends a job; false when no worker of its persistent hook has it, or is about
// to. Other runs of that worker are given to another.
func (rn *runs) killJob(j *Job) bool {
	if j.cancel != nil {
		j.cancel(errKilled)
		return true
	}
	k, ok := rn.opts.Runner.(Killer)
	if !ok {
		return false
	}
	rn.underWay.mark(j, true) // before: it may have ended when Kill returns
	if !k.Kill(j) {
		rn.underWay.mark(j, false)
		return false
	}
	return true
}

func (u *underWay) mark(j *Job, killing bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	j.killing = killing
}

// lifeOf returns the context of an attempt: when it ends, a run that has not ended is killed.
func (l *lifetime) lifeOf(a *attempt) context.Context {
	if a.counts() {
		return l.ctx
	}
	return l.stopping
}

// begin puts a job among those under way, and makes the context that it runs in from life.
func (rn *runs) begin(j *Job, life context.Context) {
	j.ctx, j.started = life, time.Now()
	if !j.Hook.Persistent {
		j.ctx, j.cancel = context.WithCancelCause(life)
	}
	rn.underWay.enter(j)
	rn.recorder.Begun(func() wire.UnderWay { return j.underWay(j.started) })
}

// errStopped is why a run ends whose answer counts for nothing.
var errStopped = errors.New("hookd stopped, and did not wait for it")

// gaveUp reports whether hookd stops, and does not wait for an attempt.
func (l *lifetime) gaveUp(a *attempt) bool { return !a.counts() && l.stopping.Err() != nil }

// leave takes out a job that has ended.
func (rn *runs) leave(j *Job) {
	rn.underWay.leave(j)
	if j.cancel != nil {
		j.cancel(nil)
	}
}

// killed reports whether Kill has ended a job.
func (rn *runs) killed(j *Job) bool {
	rn.underWay.mu.Lock()
	defer rn.underWay.mu.Unlock()
	return j.killing || j.ctx != nil && context.Cause(j.ctx) == errKilled
}

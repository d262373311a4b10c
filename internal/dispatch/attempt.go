package dispatch

import (
	"encoding/json"
	"time"

	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/match"
	"github.com/hookd/hookd/wire"
)

// attempt is one try at running a hook for an event: its input, and then
// how it went.
type attempt struct {
	event    *events.Event
	contract *events.Contract // of the lane that it stands in
	match    match.Match
	data     json.RawMessage // of the event, as rewritten so far
	timeout  time.Duration
	task     *task // nil when it was never queued

	job    *Job      // nil when it never came to that
	out    JobResult // of the job
	run    wire.Run
	answer verdict.Answer
	aborts bool // no later hook of the same file runs
	warn   bool // its failure is worth a WARN

	recorded chan struct{} // closed when the run is recorded; nil = it is, or there is none
}

// newAttempt makes the next attempt at a queued run.
func (t *task) newAttempt() *attempt {
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

// counts reports whether the run has an effect: on a verdict, or as the end of a run that was accepted. The answer
// of a hook in the shadow, or of a trial, has none.
func (a *attempt) counts() bool { return a.task != nil || !a.match.Shadow && !a.event.Trial }

// current is the event as it is now: with the rewrites of hooks before this one. It must not
// be changed: mostly it is the event itself.
func (a *attempt) current() *events.Event {
	if n := len(a.data); n == len(a.event.Data) && (n == 0 || &a.data[0] == &a.event.Data[0]) {
		return a.event
	}
	e := *a.event
	e.Data = a.data
	return &e
}

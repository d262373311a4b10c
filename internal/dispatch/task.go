package dispatch

import (
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/match"
	"github.com/hookd/hookd/wire"
)

// task is one queued run.
type task struct {
	event  *events.Event
	match  match.Match
	result chan<- wire.Run // nil = the sender does not wait; never blocks

	durable bool // its pending run is on disk, until Recorder.Finished ends it
	nested  bool // a hook waits for it
	attempt int  // attempts that ended before
	short   int  // starts in a row for which the system had no process

	strand   *strand // that it stands in; nil = in none; guarded by queue.mu
	settings int     // of the worker that it goes to; guarded by queue.mu until it is submitted
}

func (t *task) report(r wire.Run) {
	if t.result != nil {
		t.result <- r
	}
}

func (t *task) key() events.PendingKey {
	return events.PendingKey{Seq: t.event.Seq, Hook: t.match.Hook.ID}
}

// unran is the record that the sender gets for a task that did not run.
func (t *task) unran(result wire.Result, why string) wire.Run {
	return wire.Run{Hook: t.match.Hook.Name, Result: result, ExitCode: -1, Error: why}
}

// reportPostponed answers the senders of tasks: these run after the restart.
func reportPostponed(tasks []*task) {
	for _, t := range tasks {
		t.report(t.unran(wire.ResultInterrupted, "hookd was stopped before its turn; it runs when hookd is back"))
	}
}

package dispatch

import (
	"context"
	"time"

	"github.com/hookd/hookd/internal/events"
)

// killGrace is how long Drain waits for killed processes.
const killGrace = 2 * time.Second

// Drain refuses new events, waits for the runs in flight, and when ctx ends
// first kills them. Queued runs that are kept stay where they are, for the next
// start; it waits for the others too, and returns how many were dropped.
func (d *Dispatcher) Drain(ctx context.Context) (dropped int) {
	d.accept.Lock()
	if !d.draining {
		d.draining = true
		close(d.stopping)
	}
	d.accept.Unlock()
	d.retries.stop()
	if d.recorder.Keeps() {
		dropped += d.dismiss()
	}
	idle := make(chan struct{})
	go func() { d.pending.Wait(); close(idle) }()
	select {
	case <-idle:
		d.kill()
		return dropped
	case <-ctx.Done():
	}
	dropped += d.dismiss()
	d.kill()
	select {
	case <-idle:
	case <-time.After(killGrace): // a process that not even SIGKILL ends
	}
	return dropped
}

// dismiss empties the queue for good.
func (d *Dispatcher) dismiss() (dropped int) { return d.endUnstarted(d.queue.close()) }

// enqueue queues tasks, each of which counts as pending; while hookd stops they
// have come too late.
func (d *Dispatcher) enqueue(tasks []*task) {
	if !d.queue.push(tasks) {
		d.endUnstarted(tasks)
	}
}

// endUnstarted ends tasks that will not start in this life.
func (d *Dispatcher) endUnstarted(tasks []*task) (dropped int) {
	for _, t := range tasks {
		if t.kept {
			postpone([]*task{t})
			d.pending.Done()
			continue
		}
		d.drop(t)
		dropped++
	}
	return dropped
}

// postpone tells who waits for tasks that they have their turn in the next life.
func postpone(tasks []*task) {
	for _, t := range tasks {
		t.tell(t.unran(events.ResultInterrupted, "hookd was stopped before its turn; it runs when hookd is back"))
	}
}

// unran is what the sender is told of a task that did not run.
func (t *task) unran(result events.Result, why string) events.Run {
	return events.Run{Hook: t.match.Hook.Name, Result: result, ExitCode: -1, Error: why}
}

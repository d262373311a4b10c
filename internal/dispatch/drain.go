package dispatch

import (
	"context"
	"time"
)

// killGrace is how long Drain waits for killed processes.
const killGrace = 2 * time.Second

// Drain refuses new events, kills the runs whose answers count for nothing, waits for the
// others in flight, and when ctx ends first kills them. Queued runs that are kept stay where they are, for the next
// start; it waits for the others too, and returns how many were dropped.
func (d *Dispatcher) Drain(ctx context.Context) (dropped int) {
	d.accepting.Lock()
	if !d.draining {
		d.draining = true
		d.stop()
	}
	d.accepting.Unlock()
	d.retries.stop()
	if d.recorder.Durable() {
		dropped += d.observers.dismiss()
	}
	idle := make(chan struct{})
	go func() { d.pending.Wait(); close(idle) }()
	select {
	case <-idle:
		d.kill()
		return dropped
	case <-ctx.Done():
	}
	dropped += d.observers.dismiss()
	d.kill()
	select {
	case <-idle:
	case <-time.After(killGrace): // a process that not even SIGKILL ends
	}
	return dropped
}

// dismiss empties the queue, which takes no more tasks.
func (o *observers) dismiss() (dropped int) {
	delayed := o.pace.close()
	for _, t := range delayed {
		o.queue.abandon(t.event)
	}
	return o.endUnstarted(append(delayed, o.queue.close()...))
}

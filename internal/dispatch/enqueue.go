package dispatch

// observers are the runs that nothing waits for, until they begin.
type observers struct {
	*lifetime
	runs  *runs
	queue *queue
	pace  pace
}

func newObservers(l *lifetime, r *runs) *observers {
	o := &observers{lifetime: l, runs: r}
	o.queue = newQueue(l.opts.Observers, l.opts.MaxEvents, QueueShare(l.opts.MaxBytes), r.observe)
	if s, ok := l.opts.Runner.(Submitter); ok {
		o.queue.submit, o.queue.settings = r.submit, s.Settings
	}
	return o
}

// push queues tasks that may start; while hookd stops they have come too late.
func (o *observers) push(tasks []*task) {
	if !o.queue.push(tasks) {
		o.endUnstarted(tasks)
	}
}

// endUnstarted ends tasks that this process will not start.
func (o *observers) endUnstarted(tasks []*task) (dropped int) {
	for _, t := range tasks {
		if t.durable {
			reportPostponed([]*task{t})
		} else {
			t.report(o.runs.unstarted(t.newAttempt(), "hookd was stopped before its turn").run)
			dropped++
		}
		o.pending.Done()
	}
	return dropped
}

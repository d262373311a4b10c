package dispatch

// push queues tasks that may start; while hookd stops they have come too late.
func (d *Dispatcher) push(tasks []*task) {
	if !d.queue.push(tasks) {
		d.endUnstarted(tasks)
	}
}

// endUnstarted ends tasks that this process will not start.
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

// drop records a task that will never start.
func (d *Dispatcher) drop(t *task) {
	defer d.pending.Done()
	t.report(d.unstarted(t.try(), "hookd was stopped before its turn").run)
}

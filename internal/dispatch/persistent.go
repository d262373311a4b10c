package dispatch

// submit runs one task of a persistent hook; ended is called after it.
func (rn *runs) submit(t *task, ended func()) {
	a := t.newAttempt()
	over := rn.prepareJob(a)
	a.job.Settings = t.settings
	done := func(out JobResult) {
		over()
		defer rn.pending.Done()
		rn.end(a, out)
		t.report(a.run)
		ended()
	}
	if a.job.unfit != nil {
		done(unstartable(a.job.unfit))
		return
	}
	rn.opts.Runner.(Submitter).Submit(a.job.ctx, a.job, done)
}

// Starting is to be called before a process is started that is kept, and known
// when Joined was called for it or it did not start: until then, which process sends an
// event and may be this process is waited for.
func (d *Dispatcher) Starting() (known func()) { return d.chain.starting(0) }

// Joined makes a process known that is kept for many runs of a hook, so that
// events which it sends are counted as deep as depth says plus one. left
// forgets it.
func (d *Dispatcher) Joined(hook string, p Process, depth func() int) (left func()) {
	return d.chain.joined(hook, p, depth)
}

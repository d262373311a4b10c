package worker

import "context"

// asked is a call of an awaitedPool that cancel can end. It is no context of its own: to make
// one and to watch it, for each call, takes as long as a small hook's answer.
type asked struct {
	pool   *awaitedPool
	parent context.Context // of the caller

	// guarded by pool.mu
	worker    *awaitedWorker // that has the line; nil = none
	cancelled bool
	ended     chan struct{} // closed by cancel; nil = nothing waits for it
}

// cancel ends a call; false when there is none with the id.
func (a *awaitedPool) cancel(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.asks[id]
	if q == nil || q.cancelled {
		return q != nil
	}
	q.cancelled = true
	if q.ended != nil {
		close(q.ended)
	}
	if q.worker != nil {
		go q.worker.expire()
	}
	return true
}

// done returns the channel that is closed when the call is cancelled.
func (q *asked) done() <-chan struct{} {
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	if q.ended == nil {
		q.ended = make(chan struct{})
		if q.cancelled {
			close(q.ended)
		}
	}
	return q.ended
}

// goesOn reports whether neither the call was cancelled nor its caller's context has ended.
func (q *asked) goesOn() bool {
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	return !q.cancelled && q.parent.Err() == nil
}

// with notes which worker has the line, nil = none any more, and reports whether the call was
// cancelled before. If it was not, cancel kills that worker from then on.
func (q *asked) with(w *awaitedWorker) (cancelled bool) {
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	if q.worker = w; q.cancelled {
		q.worker = nil
	}
	return q.cancelled
}

// over ends it, and reports whether it was cancelled.
func (q *asked) over(id string) (cancelled bool) {
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	delete(q.pool.asks, id)
	return q.cancelled
}

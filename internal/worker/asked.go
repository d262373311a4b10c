package worker

import "context"

// asked is a call of an awaitedPool that cancel can end. Most calls get a worker at once, and
// need no context of their own: to make one and to watch it takes as long as a small hook's answer.
type asked struct {
	pool   *awaitedPool
	parent context.Context

	// guarded by pool.mu
	worker    *awaitedWorker // that has the line; nil = none
	cancelled bool
	ctx       context.Context // ends with parent and when the call is cancelled; nil = nothing waits for it
	end       context.CancelFunc
}

// cancel ends a call; false when there is none with the id.
func (a *awaitedPool) cancel(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.asks[id]
	if q == nil {
		return false
	}
	q.cancelled = true
	if q.end != nil {
		q.end()
	}
	if q.worker != nil {
		go q.worker.expire()
	}
	return true
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
	if q.end != nil {
		q.end()
	}
	return q.cancelled
}

// context returns what ends with the call.
func (q *asked) context() context.Context {
	q.pool.mu.Lock()
	defer q.pool.mu.Unlock()
	if q.ctx == nil {
		q.ctx, q.end = context.WithCancel(q.parent)
		if q.cancelled {
			q.end()
		}
	}
	return q.ctx
}

package dispatch

import "sync/atomic"

// awaitedRun is one run of an attempt on a goroutine of its own. The goroutine that waits for it goes on
// without a run that hangs. The first of end and giveUp ends the wait.
type awaitedRun struct {
	over  atomic.Bool
	own   *attempt      // that end was called with; of the run's goroutine
	ended chan *attempt // of one: neither side waits for the other
}

// await calls run on another goroutine, and returns the attempt that ends the wait.
func await(run func(*awaitedRun)) *attempt {
	t := &awaitedRun{ended: make(chan *attempt, 1)}
	go func() {
		run(t)
		if t.own != nil {
			t.ended <- t.own
		}
	}()
	return <-t.ended
}

// end ends the wait with a when its run returns. The run itself calls it.
func (t *awaitedRun) end(a *attempt) {
	if t.over.CompareAndSwap(false, true) {
		t.own = a
	}
}

// giveUp ends the wait with a at once. Another goroutine than that of the run calls it.
func (t *awaitedRun) giveUp(a *attempt) {
	if t.over.CompareAndSwap(false, true) {
		t.ended <- a
	}
}

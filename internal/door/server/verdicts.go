package server

import (
	"runtime"
	"sync/atomic"
	"time"
)

const (
	giveWayTime  = 500 * time.Microsecond // for one piece of a large event
	quickVerdict = 10 * time.Millisecond  // a verdict that takes longer waits for a model or a person
)

// verdicts counts the senders that wait for a verdict, so that those of large events give
// way to them: to read 15 MiB takes longer than a verdict does, and each wake of a verdict
// would wait for its turn behind it. The zero value is ready.
type verdicts struct {
	waiting atomic.Int32
	newest  atomic.Int64 // when the last of them came, in ns since 1970
}

func (v *verdicts) enter() {
	v.newest.Store(time.Now().UnixNano())
	v.waiting.Add(1)
}

func (v *verdicts) leave() { v.waiting.Add(-1) }

// giveWay is called by the reader of a large event after each piece, without a lock.
// It gives up its turn, so that a verdict that is due is known, and waits for giveWayTime if
// one is. That is long beside the time that a piece takes, and no wake is at the cost of the
// goroutine that has the verdict to send.
func (v *verdicts) giveWay() {
	runtime.Gosched() // else a goroutine in the queue behind this one waits until another thread takes it
	yieldThread()
	age := time.Duration(time.Now().UnixNano() - v.newest.Load())
	if v.waiting.Load() > 0 && age <= quickVerdict {
		time.Sleep(giveWayTime)
	}
}

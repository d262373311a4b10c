package dispatch

import (
	"math/rand/v2"
	"time"
)

// A run that could not start because no process was available is tried again after
// minPause, then twice as long each time, up to maxPause.
const (
	minPause = 50 * time.Millisecond
	maxPause = 10 * time.Second
)

// putOff has a queued run tried again a little later, in its turn: it was
// accepted, and that there is no process to spare is no fault of its hook. False
// when the run is not from the queue, or hookd stops.
func (d *Dispatcher) putOff(t *task) bool {
	if t == nil || t.nested || !d.queue.rest(t) {
		return false
	}
	pause := min(minPause<<min(t.short, 10), maxPause)
	t.short++
	time.AfterFunc(pause/2+rand.N(pause), func() { d.queue.wake(t) })
	return true
}

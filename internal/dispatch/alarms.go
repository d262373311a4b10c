package dispatch

import (
	"sync"
	"time"
)

// alarms call functions at their times with one timer, which is set seldom: nearly every run
// ends long before its deadline. A timer of its own for each would be set and stopped. A
// timer that is due before all others of the program wakes a thread of Go's scheduler. The
// zero value is ready.
type alarms struct {
	mu    sync.Mutex
	all   map[*alarm]struct{}
	timer *time.Timer // nil = it was never set
	due   time.Time   // of the timer, at the latest when the first of all is; zero = it is not set
}

// alarm is one call to come.
type alarm struct {
	at    time.Time
	call  func()
	stops int // how often hookd was stopped when it was due
}

// mostLate is how late an alarm may be. When it is later, hookd itself was stopped for a while, or got no
// processor, and does not know yet what has ended meanwhile: the alarm waits about as long again, so many times
// at most.
const (
	mostLate  = 100 * time.Millisecond
	mostStops = 5
)

// after calls call at a time, in a goroutine of its own. It does not if cancel is called
// before with the alarm that after returns.
func (as *alarms) after(at time.Time, call func()) *alarm {
	a := &alarm{at: at, call: call}
	as.mu.Lock()
	defer as.mu.Unlock()
	if as.all == nil {
		as.all = map[*alarm]struct{}{}
	}
	as.all[a] = struct{}{}
	as.set(at)
	return a
}

// move changes the time of an alarm that is not due yet.
func (as *alarms) move(a *alarm, at time.Time) {
	as.mu.Lock()
	defer as.mu.Unlock()
	if _, there := as.all[a]; there {
		a.at = at
		as.set(at)
	}
}

// cancel takes an alarm back. Its call may be under way.
func (as *alarms) cancel(a *alarm) {
	as.mu.Lock()
	defer as.mu.Unlock()
	delete(as.all, a)
}

// set has the timer be due at a time, or earlier if it is.
func (as *alarms) set(at time.Time) {
	switch {
	case !as.due.IsZero() && !at.Before(as.due):
		return
	case as.timer == nil:
		as.timer = time.AfterFunc(time.Until(at), as.ring)
	default:
		as.timer.Reset(time.Until(at))
	}
	as.due = at
}

// ring makes the calls that are due, and sets the timer for the first of the others.
func (as *alarms) ring() {
	as.mu.Lock()
	defer as.mu.Unlock()
	as.due = time.Time{}
	now := time.Now()
	for a := range as.all {
		if late := now.Sub(a.at); late > mostLate && a.stops < mostStops {
			a.stops++
			a.at = now.Add(min(max(late, 2*grace), killTime))
		}
		if !now.Before(a.at) {
			delete(as.all, a)
			go a.call()
			continue
		}
		as.set(a.at)
	}
}

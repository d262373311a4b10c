package worker

import (
	"sync"
	"time"
)

// clock calls a function at a time that was set, unless it was stopped before.
// To set or stop a timer for each line would wake a thread each time, so the
// timer fires at most once per timeout, and then checks.
type clock struct {
	timer *time.Timer
	over  func()

	mu    sync.Mutex // guards what is below
	until time.Time  // zero = stopped
	due   time.Time  // when timer fires; zero = not armed
}

func (c *clock) init(over func()) {
	c.over = over
	c.timer = time.AfterFunc(time.Hour, c.check)
	c.timer.Stop()
}

func (c *clock) set(until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = until
	c.arm()
}

func (c *clock) arm() {
	if c.due.IsZero() || c.until.Before(c.due) {
		c.due = c.until
		c.timer.Reset(time.Until(c.until))
	}
}

// stop reports whether it came in time, before over was called.
func (c *clock) stop() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	inTime := !c.until.IsZero()
	c.until = time.Time{}
	return inTime
}

func (c *clock) check() {
	c.mu.Lock()
	c.due = time.Time{}
	over := !c.until.IsZero() && !time.Now().Before(c.until)
	if over {
		c.until = time.Time{}
	} else if !c.until.IsZero() {
		c.arm()
	}
	c.mu.Unlock()
	if over {
		c.over()
	}
}

// close stops the timer.
func (c *clock) close() { c.timer.Stop() }

package worker

import (
	"sync"
	"time"
)

// clock calls a function when a time is over that was set and not stopped. It
// leaves its timer alone where it can: one that is set or stopped for each line
// costs threads a wake-up. So the timer goes off once per timeout at most, and
// looks.
type clock struct {
	timer *time.Timer
	over  func()

	mu    sync.Mutex // guards what is below
	until time.Time  // zero = it is stopped
	due   time.Time  // when timer goes off; zero = it is not set
}

func (c *clock) init(over func()) {
	c.over = over
	c.timer = time.AfterFunc(time.Hour, c.look)
	c.timer.Stop()
}

func (c *clock) set(until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = until
	c.wind()
}

func (c *clock) wind() {
	if c.due.IsZero() || c.until.Before(c.due) {
		c.due = c.until
		c.timer.Reset(time.Until(c.until))
	}
}

// stop reports whether the time was not over.
func (c *clock) stop() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	inTime := !c.until.IsZero()
	c.until = time.Time{}
	return inTime
}

func (c *clock) look() {
	c.mu.Lock()
	c.due = time.Time{}
	over := !c.until.IsZero() && !time.Now().Before(c.until)
	if over {
		c.until = time.Time{}
	} else if !c.until.IsZero() {
		c.wind()
	}
	c.mu.Unlock()
	if over {
		c.over()
	}
}

// close gives the timer back.
func (c *clock) close() { c.timer.Stop() }

package worker

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		at := func(d time.Duration) time.Time { return begin.Add(d * time.Second) }
		rang := make(chan struct{}, 10)
		c := &clock{}
		c.init(func() { rang <- struct{}{} })
		defer c.close()
		wantRung := func(d time.Duration, want int) {
			t.Helper()
			<-time.After(time.Until(at(d)))
			synctest.Wait()
			if got := len(rang); got != want {
				t.Errorf("it has rung %d times after %d s, want %d", got, d, want)
			}
		}
		c.set(at(10))
		wantRung(5, 0)
		if !c.stop() {
			t.Error("stopped too late, want in time")
		}
		c.set(at(15)) // the timer still stands at 10 s
		wantRung(14, 0)
		wantRung(15, 1)
		if c.stop() {
			t.Error("stopped in time, want too late")
		}
		c.set(at(100))
		c.stop()
		c.set(at(20)) // before the timer would go off
		wantRung(20, 2)
		c.set(at(30))
		c.stop()
		wantRung(40, 2)
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.due.IsZero() {
			t.Errorf("its timer is set for %s, want it left alone while nothing is timed", c.due)
		}
	})
}

package dispatch

import (
	"testing"
	"testing/synctest"
	"time"
)

// Alarms are called in the order of their times, whichever order they were set in. An
// alarm that was taken back is not called.
func TestAlarms(t *testing.T) {
	var as alarms
	called := make(chan string, 10)
	begin := time.Now()
	set := func(name string, after time.Duration) *alarm {
		return as.after(begin.Add(after), func() { called <- name })
	}
	set("third", 3*time.Hour)
	moved := set("moved", 2*time.Hour)
	set("first", time.Millisecond)
	as.cancel(set("cancelled", time.Hour))
	for _, want := range []string{"first", "moved"} {
		if got := <-called; got != want {
			t.Fatalf("%s was called, want %s", got, want)
		}
		as.move(moved, begin)
	}
	as.mu.Lock()
	defer as.mu.Unlock()
	if len(called) > 0 || len(as.all) != 1 || as.due != begin.Add(3*time.Hour) {
		t.Errorf("%d were called besides, %d are left, the timer is due in %s", len(called), len(as.all), time.Until(as.due))
	}
}

// An alarm that is late waits again, as hookd was stopped when it was due: a call that has ended meanwhile
// takes it back.
func TestAnAlarmAfterAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var as alarms
		begin := time.Now()
		called := make(chan time.Duration, 2)
		late := func() { called <- time.Since(begin) }
		as.cancel(as.after(begin.Add(-time.Minute), func() { t.Error("an alarm that was taken back is called") }))
		taken := as.after(begin.Add(-time.Minute), func() { t.Error("a call that has ended is late") })
		as.after(begin.Add(-time.Minute), late)
		synctest.Wait()
		as.cancel(taken)
		if after := <-called; after != killTime {
			t.Errorf("called after %s, want %s", after, killTime)
		}
	})
}

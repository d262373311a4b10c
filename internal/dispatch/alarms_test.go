package dispatch

import (
	"testing"
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

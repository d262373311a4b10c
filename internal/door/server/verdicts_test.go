package server

import (
	"testing"
	"testing/synctest"
	"time"
)

// The reader of a large event waits for a verdict that is due, a bounded time for each piece.
// It does not wait for a verdict that waits for a person.
func TestLargeEventsGiveWayToVerdicts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v verdicts
		waits := func() time.Duration {
			begin := time.Now()
			v.giveWay()
			return time.Since(begin)
		}
		if got := waits(); got != 0 {
			t.Errorf("with no verdict due: waits %s", got)
		}
		v.enter()
		if got := waits(); got != giveWayTime {
			t.Errorf("with one due: waits %s", got)
		}
		total := time.Duration(0)
		for range 100 { // pieces
			total += waits()
		}
		if total > quickVerdict {
			t.Errorf("waits %s for one that takes long", total)
		}
		v.enter()
		v.leave()
		if got := waits(); got == 0 {
			t.Error("does not wait for the one that is left")
		}
		v.leave()
		if got := waits(); got != 0 {
			t.Errorf("when all have their answer: waits %s", got)
		}
	})
}

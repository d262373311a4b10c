package main

import (
	"testing"

	"github.com/hookd/hookd/client"
)

// Runs that wait on disk for room in the queue are queued too.
func TestQueuedCountsTheDisk(t *testing.T) {
	st := client.DaemonInfo{Queued: 9_992, Retrying: 3, Running: map[string]int{"observers": 5, "decidable": 2}}
	st.Store.PendingRuns = 300_000
	if got := queued(st); got != 9_992 {
		t.Errorf("nothing waits on disk: %d queued", got)
	}
	st.Behind = true
	if got := queued(st); got != 299_992 {
		t.Errorf("%d queued, want 299992: the 3 that retry and the 5 that run are not", got)
	}
	st.Store.PendingRuns = 0 // the store was asked a moment later
	if got := queued(st); got != 9_992 {
		t.Errorf("%d queued, fewer than are in memory", got)
	}
}

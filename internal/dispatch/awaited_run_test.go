package dispatch

import (
	"sync"
	"testing"
	"testing/synctest"
)

func TestTheFirstEndOfATurnCounts(t *testing.T) {
	want := &attempt{}
	if got := await(func(turn *awaitedRun) { turn.end(want); turn.end(&attempt{}) }); got != want {
		t.Errorf("it ended with %p, want %p", got, want)
	}
}

// A run that hangs is not waited for, and its goroutine ends when it comes back; the bubble
// fails where one is left.
func TestARunIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late, back := &attempt{}, make(chan struct{})
		hang := func(turn *awaitedRun) {
			go turn.giveUp(late)
			<-back
			turn.end(&attempt{})
		}
		if got := await(hang); got != late {
			t.Errorf("it ended with %p, want %p", got, late)
		}
		close(back)
	})
}

// Whichever of a run and its limit comes first, the waiting goroutine goes on once.
func TestATurnEndsOnce(t *testing.T) {
	var all sync.WaitGroup
	defer all.Wait()
	for range 2000 {
		own, late := &attempt{}, &attempt{}
		race := func(turn *awaitedRun) {
			all.Go(func() { turn.giveUp(late) })
			turn.end(own)
		}
		if got := await(race); got != own && got != late {
			t.Fatalf("it ended with %p, want %p or %p", got, own, late)
		}
	}
}

package dispatch

import (
	"sync"
	"testing"
	"testing/synctest"
)

func TestAnAsideIsUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s asides
		defer s.close()
		for range 3 {
			want := &attempt{}
			if got := s.do(func(turn *turn) { turn.end(want); turn.end(&attempt{}) }); got != want {
				t.Errorf("it ended with %p, want %p: what ends a turn first counts", got, want)
			}
		}
		if len(s.idle) != 1 {
			t.Errorf("%d goroutines are kept, want 1", len(s.idle))
		}
	})
}

// A run that hangs is not waited for, and its goroutines end when it comes back; the bubble
// fails where one is left.
func TestARunIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s asides
		defer s.close()
		late, back := &attempt{}, make(chan struct{})
		hang := func(turn *turn) {
			go turn.giveUp(late)
			<-back
			turn.end(&attempt{})
		}
		if got := s.do(hang); got != late {
			t.Errorf("it ended with %p, want %p", got, late)
		}
		want := &attempt{}
		if got := s.do(func(turn *turn) { turn.end(want) }); got != want {
			t.Errorf("beside a run that hangs, one ended with %p, want %p", got, want)
		}
		close(back)
		synctest.Wait()
		if len(s.idle) != 1 {
			t.Errorf("%d goroutines are kept, want 1: that of the run that hung has ended", len(s.idle))
		}
	})
}

// Whichever of a run and its limit comes first, the waiting goroutine goes on once.
func TestATurnEndsOnce(t *testing.T) {
	var s asides
	var all sync.WaitGroup
	defer s.close()
	defer all.Wait()
	for range 2000 {
		own, late := &attempt{}, &attempt{}
		race := func(turn *turn) {
			all.Go(func() { turn.giveUp(late) })
			turn.end(own)
		}
		if got := s.do(race); got != own && got != late {
			t.Fatalf("it ended with %p, want %p or %p", got, own, late)
		}
	}
}

func TestAsidesThatAreKeptHaveABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s asides
		var all sync.WaitGroup
		together := make(chan struct{})
		for range 3 * maxAsides {
			all.Go(func() {
				s.do(func(turn *turn) {
					<-together
					turn.end(&attempt{})
				})
			})
		}
		synctest.Wait()
		close(together)
		all.Wait()
		if len(s.idle) != maxAsides {
			t.Errorf("%d goroutines are kept, want %d", len(s.idle), maxAsides)
		}
		s.close()
		s.do(func(turn *turn) { turn.end(&attempt{}) })
		if len(s.idle) != 0 {
			t.Errorf("%d goroutines are kept after the end, want none", len(s.idle))
		}
	})
}

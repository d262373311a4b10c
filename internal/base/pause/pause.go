// Package pause waits before something is tried again: twice as long each time, and in part by chance, so that
// those which failed together do not try again together. It counts no tries: its callers do.
package pause

import (
	"math/rand/v2"
	"time"
)

// Doubled is first, doubled once for each try that has failed since, and at most most.
func Doubled(first, most time.Duration, tries int) time.Duration {
	for ; tries > 0 && first < most; tries-- {
		first *= 2
	}
	return min(first, most)
}

// About is from half of d to one and a half times d. d is positive.
func About(d time.Duration) time.Duration { return d/2 + rand.N(d) }

// Within is from half of d to d.
func Within(d time.Duration) time.Duration { return d - rand.N(d/2+1) }

// For waits for d; it returns false, and sooner, when end is closed.
func For(d time.Duration, end <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-end:
		return false
	}
}

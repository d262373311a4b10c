package dispatch

import (
	"context"
	"sync/atomic"
	"time"
)

// awaitedSlots are those of runs that senders wait for. Each depth of a chain
// has its own: a hook that waits for an event of its own holds a slot of its
// depth and needs one of the next, so waits never go round in a circle.
type awaitedSlots struct {
	of      [MaxDepth + 1]chan struct{}
	waiting *atomic.Int64 // runs that have none yet
}

func newAwaitedSlots(n int) awaitedSlots {
	s := awaitedSlots{waiting: new(atomic.Int64)}
	for depth := range s.of {
		s.of[depth] = make(chan struct{}, n)
	}
	return s
}

// takeNow returns false when there is no slot now.
func (s awaitedSlots) takeNow(depth int) bool {
	select {
	case s.of[depth] <- struct{}{}:
		return true
	default:
		return false
	}
}

// takeUntil is take with a deadline. It sets a timer only if it has to wait.
func (s awaitedSlots) takeUntil(ctx context.Context, until time.Time, depth int) bool {
	if ctx.Err() == nil && s.takeNow(depth) {
		return true
	}
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	return s.take(ctx, depth)
}

// take returns false when ctx ends before there is a slot.
func (s awaitedSlots) take(ctx context.Context, depth int) bool {
	if ctx.Err() != nil {
		return false
	}
	if s.takeNow(depth) {
		return true
	}
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	select {
	case s.of[depth] <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s awaitedSlots) give(depth int) { <-s.of[depth] }

func (s awaitedSlots) used() (n int) {
	for _, taken := range s.of {
		n += len(taken)
	}
	return n
}

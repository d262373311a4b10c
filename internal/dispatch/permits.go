package dispatch

import (
	"context"
	"sync/atomic"
	"time"
)

// permits are the slots of runs that senders wait for. Each depth of a chain
// has its own: a hook that waits for an event of its own holds a slot of its
// depth and needs one of the next, so waits never go round in a circle.
type permits struct {
	slots   [MaxDepth + 1]chan struct{}
	waiting *atomic.Int64 // runs that have none yet
}

func newPermits(slots int) permits {
	p := permits{waiting: new(atomic.Int64)}
	for depth := range p.slots {
		p.slots[depth] = make(chan struct{}, slots)
	}
	return p
}

// try returns false when there is no slot now.
func (p permits) try(depth int) bool {
	select {
	case p.slots[depth] <- struct{}{}:
		return true
	default:
		return false
	}
}

// takeUntil is take with a deadline. It sets a timer only if it has to wait.
func (p permits) takeUntil(ctx context.Context, until time.Time, depth int) bool {
	if ctx.Err() == nil && p.try(depth) {
		return true
	}
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	return p.take(ctx, depth)
}

// take returns false when ctx ends before there is a slot.
func (p permits) take(ctx context.Context, depth int) bool {
	if ctx.Err() != nil {
		return false
	}
	if p.try(depth) {
		return true
	}
	p.waiting.Add(1)
	defer p.waiting.Add(-1)
	select {
	case p.slots[depth] <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (p permits) give(depth int) { <-p.slots[depth] }

func (p permits) used() (n int) {
	for _, slots := range p.slots {
		n += len(slots)
	}
	return n
}

package dispatch

import "context"

// permits are the slots of runs that somebody waits for. Each depth of a chain
// has its own: a hook that waits for an event of its own holds a slot of its
// depth and needs one of the next, so waits never go round in a circle.
type permits [MaxDepth + 1]chan struct{}

func newPermits(slots int) (p permits) {
	for depth := range p {
		p[depth] = make(chan struct{}, slots)
	}
	return p
}

// take returns false when ctx ends before there is a slot.
func (p permits) take(ctx context.Context, depth int) bool {
	select {
	case p[depth] <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (p permits) give(depth int) { <-p[depth] }

func (p permits) used() (n int) {
	for _, slots := range p {
		n += len(slots)
	}
	return n
}

package events

import (
	"context"
	"time"
)

// A Hearing is where the sender of an event says what its agent was told. It is made by NewHearing
// and safe for concurrent use.
type Hearing struct{ told chan Told }

// NewHearing returns a Hearing that nothing was said to.
func NewHearing() *Hearing { return &Hearing{make(chan Told, 1)} }

// Say takes what the agent was told; the first call counts. It does not block.
func (h *Hearing) Say(t Told) {
	select {
	case h.told <- t:
	default:
	}
}

// Wait returns what was said, and is called once. Without a word for as long as patience, or when
// ctx ends, it is not known what the agent was told.
func (h *Hearing) Wait(ctx context.Context, patience time.Duration) Told {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case t := <-h.told:
		return t
	case <-late.C:
		return Told{Unsure: "its bridge has not said so for " + patience.String()}
	case <-ctx.Done():
		return Told{Unsure: "hookd was stopped before its bridge said so"}
	}
}

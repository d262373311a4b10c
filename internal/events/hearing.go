package events

import (
	"context"
	"time"

	"github.com/hookd/hookd/wire"
)

// A Hearing is where the sender of an event says which answer its agent was told. It is made by
// NewHearing and safe for concurrent use.
type Hearing struct {
	told chan wire.Told
}

// NewHearing returns a Hearing that nothing was said to.
func NewHearing() *Hearing { return &Hearing{told: make(chan wire.Told, 1)} }

// Say takes the answer that the agent was told; the first call counts. It does not
// block.
func (h *Hearing) Say(t wire.Told) {
	select {
	case h.told <- t:
	default:
	}
}

// Wait returns the answer that was said, and is called once. Without a word for as long as
// patience, or when ctx ends, it is not known which answer the agent was told.
func (h *Hearing) Wait(ctx context.Context, patience time.Duration) wire.Told {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case t := <-h.told:
		return t
	case <-late.C:
		return wire.Told{Unsure: "its bridge has not said so for " + patience.String()}
	case <-ctx.Done():
		return wire.Told{Unsure: "hookd was stopped before its bridge said so"}
	}
}

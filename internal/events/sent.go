package events

import (
	"crypto/sha256"
	"time"
)

// Sent holds the facts that are remembered of an event whose sender gave it an id,
// beside the event itself, to answer when it is sent again.
type Sent struct {
	Content [sha256.Size]byte // digest of what the event says
	Matched []string          // names of the hooks that run for it
}

// SentEvent is an event with an id as it is remembered across restarts.
type SentEvent struct {
	Sender, ID string // which name it
	Sent
	Time     time.Time
	EventID  string
	Seq      uint64
	Warnings []string
	Wait     bool   // its sender waits for the runs
	Decided  bool   // for a verdict of theirs
	Answer   []byte // what the sender got when they had ended; nil = it is not known
}

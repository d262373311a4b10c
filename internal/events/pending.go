package events

import "time"

// PendingKey names one pending run: the number of its event, and the id that its
// hook had when the event was accepted.
type PendingKey struct {
	Seq  uint64
	Hook string
}

// Pending is one run that was accepted and has not ended.
type Pending struct {
	Event   *Event    // with all of its data; shared by all of the event's runs
	Hook    string    // as in PendingKey
	Attempt int       // attempts that ended before; 0 = none
	Due     time.Time // when it may start; zero = now
	RunID   string    // of an attempt that had begun and did not end; "" = none
	Started time.Time // when that one began
}

// Key returns the key of p.
func (p Pending) Key() PendingKey { return PendingKey{Seq: p.Event.Seq, Hook: p.Hook} }

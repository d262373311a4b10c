package dispatch

import (
	"time"

	"github.com/hookd/hookd/internal/events"
)

// Recorder keeps what was accepted and how it ended. None of its methods
// blocks but Pending: they stand between the hook and the answer.
type Recorder interface {
	// Accept numbers e, shows it to whoever listens, and keeps it with one
	// pending run for each of hooks, which are ids in order of registration. Without
	// any, e is over when Accept returns: what is kept of it is a copy. An
	// error refuses the event: nothing runs for it, though it may have been shown
	// when the disk failed only then. Else stored, unless
	// it is nil, is called once, with the outcome: whether the runs are kept
	// until Finished ends them, or why an event that waits for the disk could
	// not be. The calls come in the order of Accept, maybe before it returns.
	// One that waits for its verdict is never refused.
	Accept(e *events.Event, hooks []string, stored func(kept bool, err *events.Error)) *events.Error
	// Started notes that an attempt at a kept run has begun.
	Started(k Key, runID string, at time.Time)
	// Finished records a run and, if fate says so, what becomes of the pending
	// run k. A run without an ID is not recorded.
	Finished(k Key, run events.Run, fate Fate)
	// Keeps reports whether what is accepted now outlives the process.
	Keeps() bool
	// Pending returns what was kept and has not ended, in the order accepted:
	// all runs of the first events above after, limit at most.
	Pending(after uint64, limit int) ([]Waiting, error)
}

// Key names one pending run: the number of its event and the id of its hook.
type Key struct {
	Seq  uint64
	Hook string
}

// Fate is what becomes of a pending run when an attempt has ended. The zero
// Fate is for runs that were never pending.
type Fate struct {
	Ended bool      // it is over
	Again time.Time // it is tried again then; zero = it is not
	Dead  string    // why it is given up, as a dead letter; "" = it is not
}

// Waiting is a run that was accepted and has not ended.
type Waiting struct {
	Event   *events.Event // shared by all of the event's runs
	Hook    string        // id
	Attempt int           // attempts that ended before
	Due     time.Time     // when it may start; zero = now
	RunID   string        // of an attempt that had begun when hookd ended; "" = none
	Started time.Time     // when that one began
}

func (w Waiting) key() Key { return Key{Seq: w.Event.Seq, Hook: w.Hook} }

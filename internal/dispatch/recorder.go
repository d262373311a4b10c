package dispatch

import (
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// Recorder keeps the accepted events and how they ended. None of its methods
// blocks but Began, Pending and NextPending: they stand between the hook and the answer.
type Recorder interface {
	// Prepare does the part of Accept that takes long for a large event. That part depends
	// neither on the event's number nor on earlier events. Prepare is called with e as it
	// is given to Accept, which gets the Prepared. It is called in no order and without a
	// lock: one large event must not hold up the verdicts of others. kept reports whether
	// there are hooks.
	Prepare(e *events.Event, kept bool) Prepared
	// Accept numbers e, which p was prepared for unless it is nil, shows it to subscribers, and keeps it with one
	// pending run for each of hooks, which are ids in order of registration. Without
	// any, and unless it is Judged, e is over when Accept returns: the Recorder keeps a copy.
	// Else it does not change any more. The id that
	// its sender gave it, which e.Sent has, is kept with it. An
	// error refuses the event: nothing runs for it, though it may have been shown
	// when the disk failed only then. Else stored, unless
	// it is nil, is called once, with the outcome: whether the runs are kept
	// until Finished ends them, or why an event that waits for the disk could
	// not be. The calls come in the order of Accept, maybe before it returns. For an
	// event without hooks stored is nil, unless its id is to be on disk.
	// An event that waits for its verdict is never refused.
	Accept(e *events.Event, p Prepared, hooks []string, stored func(kept bool, err *wire.Error)) *wire.Error
	// HasSubscribers reports whether events are read as they come, which then say their
	// subjects. Else an event without hooks may be Unread: its subject is looked up only for
	// the few that are kept, and for a subscriber that comes later.
	HasSubscribers() bool
	// Started notes that an attempt at a kept run has begun.
	Started(k events.PendingKey, runID string, at time.Time)
	// Finished records a run and, if fate says so, the fate of the pending
	// run k. A run without an ID is not recorded.
	Finished(k events.PendingKey, run wire.Run, fate Fate)
	// Begun reports that a run has begun, shown only to subscribers that ask for it. It is
	// called for each run: u is only called when it is wanted.
	Begun(u func() wire.UnderWay)
	// Decided records a decision, after the runs that made it; d is the Recorder's
	// own from now on. Its record is kept even if the event is not.
	Decided(d *wire.Decision)
	// Deciding says that Decided is to follow for d, when the verdict is out already: a kill
	// of the process in between is not to take it. soon says that it waits for its sender
	// alone, which reports the words that the agent heard. open says that the hooks have not answered yet: another
	// record is to follow about the event of d, which is not used when Deciding has returned.
	Deciding(d *wire.Decision, soon, open bool)
	// Ended records the end of a call beside the decision about the event with the number seq, which
	// was given to Decided before.
	Ended(seq uint64, g wire.Guarded, ran wire.Ran)
	// Began returns when the first event of a session came; now for an unknown session. asked is the
	// newest decision on its call with the id, of the time in before this process began; nil = there is none, or
	// the session came later. ok is false where that cannot be read. It may wait for the disk.
	Began(session string, d events.Dialect, id string, began time.Time, in time.Duration) (
		first time.Time, asked *wire.Decision, ok bool,
	)
	// Durable reports whether events that are accepted now outlive the process.
	Durable() bool
	// Pending returns the runs that were kept and have not ended, in the order accepted:
	// all runs of the first events above after, limit at most.
	Pending(after uint64, limit int) ([]events.Pending, error)
	// NextPending returns how large the data of the first event is that Pending
	// would return, so that it is read when there is room for it.
	NextPending(after uint64) (size int64, err error)
}

// Prepared is the part that a Recorder made of an event before it was its turn; nil =
// nothing.
type Prepared any

// Fate is the future of a pending run when an attempt has ended. The zero
// Fate is for runs that were never pending.
type Fate struct {
	Ended bool      // it is over
	Again time.Time // it is tried again then; zero = it is not
	Dead  string    // why it is given up, as a dead letter; "" = it is not
}

// unrecorded is the Recorder of a Dispatcher that has none: its runs are known to the caller alone.
type unrecorded struct{}

func (unrecorded) Prepare(*events.Event, bool) Prepared          { return nil }
func (unrecorded) HasSubscribers() bool                          { return false }
func (unrecorded) Started(events.PendingKey, string, time.Time)  {}
func (unrecorded) Finished(events.PendingKey, wire.Run, Fate)    {}
func (unrecorded) Begun(func() wire.UnderWay)                    {}
func (unrecorded) Decided(*wire.Decision)                        {}
func (unrecorded) Deciding(*wire.Decision, bool, bool)           {}
func (unrecorded) Ended(uint64, wire.Guarded, wire.Ran)          {}
func (unrecorded) Durable() bool                                 { return false }
func (unrecorded) Pending(uint64, int) ([]events.Pending, error) { return nil, nil }
func (unrecorded) NextPending(uint64) (int64, error)             { return 0, nil }

func (unrecorded) Accept(_ *events.Event, _ Prepared, _ []string, stored func(bool, *wire.Error)) *wire.Error {
	if stored != nil {
		stored(false, nil)
	}
	return nil
}

func (unrecorded) Began(string, events.Dialect, string, time.Time, time.Duration) (
	first time.Time, asked *wire.Decision, ok bool,
) {
	return first, nil, false
}

package dispatch

import (
	"encoding/json"
	"time"

	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// IDs keeps the ids that senders gave their events across restarts. The id of
// an event is written with it, see events.Event.Sent. Only Sent blocks.
type IDs interface {
	// Sent calls each with every event that has an id and was accepted since
	// then, oldest first.
	Sent(since time.Time, each func(events.SentEvent)) error
	// Answered keeps the answer that the sender of an event got when its runs had
	// ended. answer is called later; size is about how long it is.
	Answered(seq uint64, size int, answer func() ([]byte, error))
	// ForgetAnswer ends that.
	ForgetAnswer(seq uint64)
	// ForgetSent ends that an event is known by its id.
	ForgetSent(seq uint64)
	// Keep has list called when all of that has to be written again, because its store is
	// gone. list does not block.
	Keep(list func() []events.SentEvent)
}

// noIDs is the IDs of a Dispatcher that has none: ids are known until it ends.
type noIDs struct{}

func (noIDs) Sent(time.Time, func(events.SentEvent)) error { return nil }
func (noIDs) Answered(uint64, int, func() ([]byte, error)) {}
func (noIDs) ForgetAnswer(uint64)                          {}
func (noIDs) ForgetSent(uint64)                            {}
func (noIDs) Keep(func() []events.SentEvent)               {}

// sentAnswer is the answer to a sender when the runs of its event have ended, as
// it is kept.
type sentAnswer struct {
	Verdict *verdict.Verdict `json:"verdict,omitempty"`
	Runs    []wire.Run       `json:"runs,omitempty"`
}

func (r Receipt) encodeAnswer() ([]byte, error) { return json.Marshal(sentAnswer{r.Verdict, r.Runs}) }

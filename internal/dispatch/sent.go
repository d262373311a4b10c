package dispatch

import (
	"encoding/json"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/verdict"
)

// IDs keeps the ids that senders gave their events across restarts. The id of
// an event is written with it, see events.Event.Sent. Only Sent blocks.
type IDs interface {
	// Sent calls each with every event that has an id and was accepted since
	// then, oldest first.
	Sent(since time.Time, each func(events.SentEvent)) error
	// Answered keeps what the sender of an event was told when its runs had
	// ended. answer is called later; size is about how long it is.
	Answered(seq uint64, size int, answer func() ([]byte, error))
	// ForgetAnswer ends that.
	ForgetAnswer(seq uint64)
	// ForgetSent ends that an event is known by its id.
	ForgetSent(seq uint64)
}

// noIDs is the IDs of a Dispatcher that has none: ids are known until it ends.
type noIDs struct{}

func (noIDs) Sent(time.Time, func(events.SentEvent)) error { return nil }
func (noIDs) Answered(uint64, int, func() ([]byte, error)) {}
func (noIDs) ForgetAnswer(uint64)                          {}
func (noIDs) ForgetSent(uint64)                            {}

// sentAnswer is what a sender is told when the runs of its event have ended, as
// it is kept.
type sentAnswer struct {
	Verdict *verdict.Verdict `json:"verdict,omitempty"`
	Runs    []events.Run     `json:"runs,omitempty"`
}

func (r Receipt) encodeAnswer() ([]byte, error) { return json.Marshal(sentAnswer{r.Verdict, r.Runs}) }

// loadIDs makes the ids known that were on disk when the Dispatcher began.
func (d *Dispatcher) loadIDs() {
	if err := d.seen.ids.Sent(time.Now().Add(-dedupWindow), d.seen.load); err != nil {
		d.log.Warn(
			"the ids of events of the last 10 minutes cannot be read: one that is sent again runs again",
			zap.Error(err),
		)
	}
}

// load makes an event known that was accepted before the Dispatcher began.
func (d *dedup) load(was events.SentEvent) {
	r := Receipt{EventID: was.EventID, Seq: was.Seq, Matched: was.Matched, Warnings: was.Warnings}
	if r.Matched == nil {
		r.Matched = []string{}
	}
	d.mu.Lock()
	e := d.add(was.Sender, was.ID, was.Content, was.Time)
	d.mu.Unlock()
	e.ok, e.first = true, r
	close(e.settled)
	var answer sentAnswer
	switch {
	case !was.Wait:
		d.complete(e, r)
	case was.Answer != nil && json.Unmarshal(was.Answer, &answer) == nil:
		r.Verdict, r.Runs = answer.Verdict, answer.Runs
		d.complete(e, r)
	case was.Decided:
		e.gone = true
		close(e.ended)
	default: // its runs are under way again, or have ended: it is not to be sent again
		r.Verdict = allowed()
		d.complete(e, r)
	}
}

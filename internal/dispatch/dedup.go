package dispatch

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"maps"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// An id counts as seen for dedupWindow. At most dedupMax are kept, and of the
// answers to them answerBytes in all.
const (
	dedupWindow = 10 * time.Minute
	dedupMax    = 100_000
	answerBytes = 16 << 20
)

// dedup remembers the ids that senders gave their events, so that an event which is
// sent again is accepted once. When there are too many, the senders with the most
// lose their oldest: a sender that floods does not push out another's.
type dedup struct {
	ids   IDs           // what is on disk: no more than what is here, except for what has expired
	known chan struct{} // closed once the ids of earlier processes are here; nil = there are none

	mu      sync.Mutex // guards all below
	senders map[string]*senderIDs
	count   int
	answers []*entry // those that hold their answer, oldest first
	bytes   int      // of them
}

// senderIDs are the ids of one sender.
type senderIDs struct {
	name    string
	entries map[string]*entry
	oldest  []*entry // in the order entered
}

// entry is one event with an id of its own.
type entry struct {
	sender, id string
	content    [sha256.Size]byte
	at         time.Time
	wait       bool          // its sender waits for the runs
	decided    bool          // for a verdict of theirs
	listed     bool          // list has returned it; guarded by dedup.mu
	settled    chan struct{} // closed once it was accepted or refused; nil = an earlier process has accepted it
	ended      chan struct{} // closed once its receipt is complete; nil = an earlier process has
	ok         bool          // it was accepted; valid after settled
	first      Receipt       // as given to the store; no EventID = it was not yet; guarded by dedup.mu until settled
	full       *Receipt      // with verdict and runs, where it has more than first; valid after ended
	size       int           // of what first and full hold
	gone       bool          // full does not hold it any more; guarded by dedup.mu
}

// contentOf sums up the content of an event, to distinguish events with the same id.
// How its sender waits for it is no part of that.
func contentOf(env *events.Envelope) [sha256.Size]byte {
	h := sha256.New()
	for _, part := range []string{
		string(env.Dialect), env.Event, env.SessionID, env.AgentID, env.AgentName, env.Cwd, env.Lane,
	} {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	h.Write(env.Data)
	return [sha256.Size]byte(h.Sum(nil))
}

func newDedup(ids IDs) *dedup {
	d := &dedup{ids: ids, senders: map[string]*senderIDs{}}
	ids.Keep(d.list)
	return d
}

var errConflict = &wire.Error{
	Code:    wire.CodeIDConflict,
	Message: "the sender has used this id for another event within the last 10 minutes",
	Hint:    "give each event an id of its own, and send it again unchanged only",
}

var errGone = &wire.Error{
	Code:    wire.CodeAnswerGone,
	Message: "an event with this id was decided, but its answer is not kept any more",
	Hint:    "send it as a new event, with another id",
}

// enter returns the entry of an event's id; first reports whether this call made
// it. An error says that the id is another event's. It waits until the ids of earlier processes are known.
func (d *dedup) enter(env *events.Envelope, now time.Time) (e *entry, first bool, err *wire.Error) {
	what := contentOf(env)
	if d.known != nil {
		<-d.known
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.senders[env.Sender]
	if s != nil {
		d.expire(env.Sender, s, now)
		if e, ok := s.entries[env.ID]; ok {
			if e.content != what {
				return nil, false, errConflict
			}
			return e, false, nil
		}
	}
	e = d.add(env.Sender, strings.Clone(env.ID), what, now)
	e.settled, e.ended = make(chan struct{}), make(chan struct{})
	e.wait, e.decided = env.Wait, env.Wait && events.For(env.Dialect, env.Event).Decidable
	return e, true, nil
}

// begin notes the receipt that the store got for an event: the event is known by its id from then
// on, also after a restart.
func (d *dedup) begin(e *entry, r Receipt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e.first = r
}

// list returns the parts of the known events that have to be on disk.
func (d *dedup) list() (all []events.SentEvent) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.senders {
		for _, e := range s.oldest {
			if s.entries[e.id] == e && e.first.EventID != "" {
				e.listed = true
				all = append(all, e.sentEvent())
			}
		}
	}
	return all
}

// sentEvent is the part of an event on disk. The caller holds dedup.mu.
func (e *entry) sentEvent() events.SentEvent {
	r := e.first
	was := events.SentEvent{
		Sender: e.sender, ID: e.id, Sent: events.Sent{Content: e.content, Matched: r.Matched},
		Time: e.at, EventID: r.EventID, Seq: r.Seq, Warnings: r.Warnings, Wait: e.wait, Decided: e.decided,
	}
	if e.full != nil && e.full.Verdict != nil {
		was.Answer, _ = e.full.encodeAnswer() // without it, the answer is one that is not known
	}
	return was
}

// add makes room for an id and enters it. The caller holds mu.
func (d *dedup) add(sender, id string, what [sha256.Size]byte, at time.Time) *entry {
	for d.count >= dedupMax {
		d.evict()
	}
	s := d.senders[sender]
	if s == nil {
		s = &senderIDs{name: strings.Clone(sender), entries: map[string]*entry{}}
		d.senders[s.name] = s
	}
	e := &entry{sender: s.name, id: id, content: what, at: at}
	s.entries[id] = e
	s.oldest = append(s.oldest, e)
	d.count++
	return e
}

// expire forgets the ids that a sender sent before the window.
func (d *dedup) expire(sender string, s *senderIDs, now time.Time) {
	for len(s.oldest) > 0 && now.Sub(s.oldest[0].at) > dedupWindow {
		d.dropOldest(sender, s)
	}
}

// looks is how many senders evict compares: a map's order is random.
const looks = 32

// evict forgets the oldest id of a sender with many, on disk too.
func (d *dedup) evict() {
	var most *senderIDs
	var name string
	n := 0
	for sender, s := range d.senders {
		if most == nil || len(s.oldest) > len(most.oldest) {
			most, name = s, sender
		}
		if n++; n == looks {
			break
		}
	}
	old := most.oldest[0]
	d.dropOldest(name, most)
	if old.isSettled() && old.ok { // else settle does it
		d.ids.ForgetSent(old.first.Seq)
	}
}

func (e *entry) isSettled() bool {
	if e.settled == nil {
		return true
	}
	select {
	case <-e.settled:
		return true
	default:
		return false
	}
}

func (d *dedup) dropOldest(sender string, s *senderIDs) {
	e := s.oldest[0]
	s.oldest[0] = nil
	s.oldest = s.oldest[1:]
	d.count--
	if s.entries[e.id] == e {
		delete(s.entries, e.id)
	}
	if len(s.oldest) == 0 {
		delete(d.senders, sender)
	}
}

// settle gives the duplicates the outcome of the first; a refused event is
// forgotten, so that it can be sent again.
func (d *dedup) settle(e *entry, r Receipt, accepted bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.senders[e.sender]
	known := s != nil && s.entries[e.id] == e // else it has gone, and the id may be another event's
	switch {
	case !accepted && known:
		delete(s.entries, e.id)
		if e.listed {
			d.ids.ForgetSent(e.first.Seq)
		}
	case accepted && !known:
		d.ids.ForgetSent(r.Seq)
	}
	e.ok, e.first = accepted, r
	close(e.settled)
}

// finish completes the receipt that waiting duplicates get, in this process and,
// if the event was accepted, in the next.
func (d *dedup) finish(e *entry, r Receipt) {
	r.Verdict = ownCopy(r.Verdict)
	if e.ok && r.Verdict != nil {
		d.ids.Answered(r.Seq, sizeOf(r), r.encodeAnswer)
	}
	d.complete(e, r)
}

// complete notes the receipt that waiting duplicates get. The answers that were kept
// longest go when they take too much room.
func (d *dedup) complete(e *entry, r Receipt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.size = sizeOf(r); r.Verdict != nil || len(r.Runs) > 0 {
		e.full = &r
	}
	if e.ended != nil {
		close(e.ended)
	}
	d.answers = append(d.answers, e)
	d.bytes += e.size
	for now := time.Now(); len(d.answers) > 1 && (d.bytes > answerBytes || now.Sub(d.answers[0].at) > dedupWindow); {
		old := d.answers[0]
		d.answers[0] = nil
		d.answers = d.answers[1:]
		d.bytes -= old.size
		old.full, old.gone = nil, true
		if old.ok {
			d.ids.ForgetAnswer(old.first.Seq)
		}
	}
}

// sizeOf is about how much memory a receipt takes.
func sizeOf(r Receipt) int {
	size := 512
	for _, w := range r.Warnings {
		size += len(w)
	}
	for _, run := range r.Runs {
		size += 512 + len(run.Error)
	}
	if v := r.Verdict; v != nil {
		size += len(v.DecisionReason) + len(v.Message) + len(v.SystemMessage) + len(v.AdditionalContext)
		size += len(v.UpdatedInput) + len(v.UpdatedToolResponse) + len(v.UpdatedMessages)
		size += len(v.Summary) + len(v.StopReason) + len(v.Stderr)
		for key, value := range v.Metadata {
			size += len(key) + len(value)
		}
		for key, value := range v.Specific {
			size += len(key) + len(value)
		}
	}
	return size
}

// ownCopy is a verdict that holds no more than itself: its parts may be pieces of
// a hook's whole output.
func ownCopy(v *verdict.Verdict) *verdict.Verdict {
	if v == nil {
		return nil
	}
	c := *v
	for _, text := range []*string{
		&c.DecisionReason, &c.Message, &c.SystemMessage, &c.AdditionalContext, &c.Summary, &c.StopReason, &c.Stderr,
	} {
		*text = strings.Clone(*text)
	}
	c.UpdatedInput, c.UpdatedMessages = bytes.Clone(v.UpdatedInput), bytes.Clone(v.UpdatedMessages)
	c.UpdatedToolResponse = bytes.Clone(v.UpdatedToolResponse)
	c.Specific = maps.Clone(v.Specific)
	for key, value := range c.Specific {
		c.Specific[key] = bytes.Clone(value)
	}
	return &c
}

// join returns the receipt of the first event with this id, waiting for its
// runs if asked to; ok is false when that event was refused.
func (d *dedup) join(e *entry, wait bool) (r Receipt, ok bool, err *wire.Error) {
	if e.settled != nil {
		<-e.settled
	}
	if !e.ok {
		return Receipt{}, false, nil
	}
	r = e.first
	if wait {
		if e.ended != nil {
			<-e.ended
		}
		d.mu.Lock()
		gone := e.gone
		if e.full != nil {
			r = *e.full
		}
		d.mu.Unlock()
		if gone {
			return Receipt{}, true, errGone
		}
	}
	r.Duplicate = true
	return r, true, nil
}

// loadIDs makes the ids known that were on disk when the Dispatcher began.
func (d *Dispatcher) loadIDs() {
	defer close(d.seen.known)
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
	e.ok, e.first, e.wait, e.decided = true, r, was.Wait, was.Decided
	d.mu.Unlock()
	var answer sentAnswer
	switch {
	case !was.Wait:
		d.complete(e, r)
	case was.Answer != nil && json.Unmarshal(was.Answer, &answer) == nil:
		r.Verdict, r.Runs = answer.Verdict, answer.Runs
		d.complete(e, r)
	case was.Decided:
		e.gone = true
	default: // its runs are under way again, or have ended: it is not to be sent again
		r.Verdict = allowed()
		d.complete(e, r)
	}
}

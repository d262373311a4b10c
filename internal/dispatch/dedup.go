package dispatch

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// An id counts as seen for dedupWindow. At most dedupMax are kept, and of the
// receipts receiptBytes in all.
const (
	dedupWindow  = 10 * time.Minute
	dedupMax     = 100_000
	receiptBytes = 16 << 20
)

// dedup remembers the ids that senders gave their events, so that an event which is
// sent again is accepted once. When there are too many, the senders with the most
// lose their oldest: a sender that floods does not push out another's.
type dedup struct {
	ids   IDs // what is on disk: no more than what is here, except for what has expired
	begun time.Time
	known chan struct{} // closed once the ids of earlier processes are here; nil = there are none

	mu       sync.Mutex // guards all below
	senders  map[string]*senderIDs
	count    int
	matched  []string      // of the newest entry: most events are for the same hooks
	receipts []keptReceipt // of entries, the oldest first
	bytes    int           // of them
}

// keptReceipt is the receipt of an entry, for duplicates.
type keptReceipt struct {
	of   *entry
	size int // in bytes
}

// senderIDs are the ids of one sender.
type senderIDs struct {
	name    string
	entries map[string]*entry
	oldest  []*entry // in the order entered
}

// entry is one event with an id of its own. There may be dedupMax, so it is small. dedup.mu guards all that
// changes.
type entry struct {
	sender  *senderIDs
	id      string
	content [sha256.Size]byte
	at      time.Duration // since dedup.begun
	open    *outcome      // nil = it was accepted or refused, and its receipt is complete
	first   accepted      // as given to the store; no eventID = it was not yet
	full    *Receipt      // with verdict and runs, where it has more than first
	wait    bool          // its sender waits for the runs
	decided bool          // for a verdict of theirs
	listed  bool          // list has returned it
	ok      bool          // it was accepted
	gone    bool          // full does not hold it any more
}

// outcome lets the senders of a repeated event wait.
type outcome struct {
	answered chan struct{} // closed once it was accepted or refused
	ended    chan struct{} // closed once its receipt is complete
}

// accepted is the part of a receipt that each event has.
type accepted struct {
	eventID           string
	seq               uint64
	matched, warnings []string
}

func (a accepted) receipt() Receipt {
	return Receipt{EventID: a.eventID, Seq: a.seq, Matched: a.matched, Warnings: a.warnings}
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
	d := &dedup{ids: ids, begun: time.Now(), senders: map[string]*senderIDs{}}
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
		d.expire(s, now)
		if e, ok := s.entries[env.ID]; ok {
			if e.content != what {
				return nil, false, errConflict
			}
			return e, false, nil
		}
	}
	e = d.add(env.Sender, strings.Clone(env.ID), what, now)
	e.open = &outcome{make(chan struct{}), make(chan struct{})}
	e.wait, e.decided = env.Wait, env.Wait && events.For(env.Dialect, env.Event).Decidable
	return e, true, nil
}

// age is when a moment is, in the time of entries.
func (d *dedup) age(at time.Time) time.Duration { return at.Sub(d.begun) }

// begin notes the receipt that the store got for an event: the event is known by its id from then
// on, also after a restart.
func (d *dedup) begin(e *entry, r Receipt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.accept(e, r)
}

// accept notes the event that the store was given. The caller holds mu.
func (d *dedup) accept(e *entry, r Receipt) {
	if d.matched == nil || r.Matched == nil || !slices.Equal(d.matched, r.Matched) {
		d.matched = r.Matched
	}
	e.first = accepted{r.EventID, r.Seq, d.matched, r.Warnings}
}

// list returns the parts of the known events that have to be on disk.
func (d *dedup) list() (all []events.SentEvent) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.senders {
		for _, e := range s.oldest {
			if s.entries[e.id] == e && e.first.eventID != "" {
				e.listed = true
				all = append(all, d.sentEvent(e))
			}
		}
	}
	return all
}

// sentEvent is the part of an event on disk. The caller holds dedup.mu.
func (d *dedup) sentEvent(e *entry) events.SentEvent {
	f := e.first
	was := events.SentEvent{
		Sender: e.sender.name, ID: e.id, Sent: events.Sent{Content: e.content, Matched: f.matched},
		Time: d.begun.Add(e.at), EventID: f.eventID, Seq: f.seq, Warnings: f.warnings, Wait: e.wait, Decided: e.decided,
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
	e := &entry{sender: s, id: id, content: what, at: d.age(at)}
	s.entries[id] = e
	s.oldest = append(s.oldest, e)
	d.count++
	return e
}

// expire forgets the ids that a sender sent before the window.
func (d *dedup) expire(s *senderIDs, now time.Time) {
	for len(s.oldest) > 0 && d.age(now)-s.oldest[0].at > dedupWindow {
		d.dropOldest(s)
	}
}

// looks is how many senders evict compares: a map's order is random.
const looks = 32

// evict forgets the oldest id of a sender with many, on disk too.
func (d *dedup) evict() {
	var most *senderIDs
	n := 0
	for _, s := range d.senders {
		if most == nil || len(s.oldest) > len(most.oldest) {
			most = s
		}
		if n++; n == looks {
			break
		}
	}
	old := most.oldest[0]
	d.dropOldest(most)
	if old.ok { // else answerDuplicates does it
		d.ids.ForgetSent(old.first.seq)
	}
}

func (d *dedup) dropOldest(s *senderIDs) {
	e := s.oldest[0]
	s.oldest[0] = nil
	s.oldest = s.oldest[1:]
	d.count--
	if s.entries[e.id] == e {
		delete(s.entries, e.id)
	}
	if len(s.oldest) == 0 {
		delete(d.senders, s.name)
	}
}

// answerDuplicates gives the duplicates the outcome of the first; a refused event is
// forgotten, so that it can be sent again.
func (d *dedup) answerDuplicates(e *entry, r Receipt, accepted bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := e.sender.entries[e.id] == e // else it has gone, and the id may be another event's
	switch {
	case !accepted && known:
		delete(e.sender.entries, e.id)
		if e.listed {
			d.ids.ForgetSent(e.first.seq)
		}
	case accepted && !known:
		d.ids.ForgetSent(r.Seq)
	}
	e.ok = accepted
	d.accept(e, r)
	close(e.open.answered)
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
	if e.open != nil {
		close(e.open.ended)
		e.open = nil
	}
	if r.Verdict == nil && len(r.Runs) == 0 {
		return
	}
	e.full = &r
	d.receipts = append(d.receipts, keptReceipt{e, sizeOf(r)})
	d.bytes += sizeOf(r)
	old := d.age(time.Now()) - dedupWindow
	for len(d.receipts) > 1 && (d.bytes > receiptBytes || d.receipts[0].of.at < old) {
		e := d.receipts[0].of
		d.bytes -= d.receipts[0].size
		d.receipts[0] = keptReceipt{}
		d.receipts = d.receipts[1:]
		e.full, e.gone = nil, true
		if e.ok {
			d.ids.ForgetAnswer(e.first.seq)
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
	d.mu.Lock()
	defer d.mu.Unlock()
	if open := e.open; open != nil {
		d.await(open.answered)
		if wait && e.ok {
			d.await(open.ended)
		}
	}
	switch {
	case !e.ok:
		return Receipt{}, false, nil
	case wait && e.gone:
		return Receipt{}, true, errGone
	case wait && e.full != nil:
		r = *e.full
	default:
		r = e.first.receipt()
	}
	r.Duplicate = true
	return r, true, nil
}

// await waits for a channel without mu, which the caller holds.
func (d *dedup) await(c <-chan struct{}) {
	d.mu.Unlock()
	defer d.mu.Lock()
	<-c
}

// loadIDs makes the ids known that were on disk when the Dispatcher began.
func (d *Dispatcher) loadIDs() {
	defer close(d.seen.known)
	if err := d.seen.ids.Sent(time.Now().Add(-dedupWindow), d.seen.load); err != nil {
		d.log.Warn(
			"the ids of events of the last 10 minutes cannot be read: an event that is sent again runs again",
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
	e.ok, e.wait, e.decided = true, was.Wait, was.Decided
	d.accept(e, r)
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

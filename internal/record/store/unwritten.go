package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/record/journal"
	"github.com/hookd/hookd/wire"
)

// unwritten has the decisions, held asks and targets of forward that the database does not have yet, in a
// journal whose folder is in memory: they outlive a kill of the process, and no verdict waits for a disk.
// A loss of power takes them. The zero unwritten holds none.
type unwritten struct {
	log   *journal.Journal // nil = there is none
	asked map[string]bool  // ids of the asks that end with what a kill has left; set by Open alone

	mu    sync.Mutex                   // guards all below; held while memory is written to
	list  []*inMemory                  // in the order of the journal, from the first that the database does not have
	open  map[uint64]*inMemory         // of events that have no decision yet, by their number
	of    map[*wire.Decision]*inMemory // until Decided is called
	asks  map[string]*inMemory         // by id
	freed journal.Pos
	again time.Time // not tried before: memory was full
	text  []byte    // of the last one
}

// memoryText is an ask in the journal, or the names of targets of forward, in the place of a decision; or it stands in
// a decision that was not made yet.
type memoryText struct {
	Open    bool     `json:"open,omitempty"`
	Ask     string   `json:"held_ask,omitempty"`
	Text    []byte   `json:"text,omitempty"`
	Over    bool     `json:"over,omitempty"` // the database has it, or it has ended
	Targets []string `json:"targets,omitempty"`
}

// inMemory is one decision, ask or list of targets in the journal.
type inMemory struct {
	journal.Entry
	written bool // to the database
}

// The size of a segment of unwritten, and of all segments: beyond that a decision is lost with the process.
const (
	unwrittenSegment = 4 << 20
	maxUnwritten     = 16 << 20
	memoryRetry      = time.Second
	memoryLook       = 25 * time.Millisecond // see journal.Options
)

// databaseLink names, in a folder in memory, the database that it belongs to.
const databaseLink = "database"

// openUnwritten opens the journal in the folder Options.Memory. It hands over the decisions that a
// killed process has left in it. Only Open calls it.
func (s *decisions) openUnwritten() error {
	dir := s.opts.Memory
	if dir == "" || s.down.Load() != nil {
		return nil
	}
	type key struct {
		event    uint64
		decision wire.Outcome
		answered bool
	}
	left, known := []*wire.Decision(nil), map[key]bool{}
	asks, senseless := map[string]Saved{}, 0
	open, openAt := map[uint64]*wire.Decision{}, map[uint64]*inMemory{}
	u := &s.unwritten
	o := journal.Options{
		Dir: dir, Owner: s.Epoch(), Bytes: unwrittenSegment, Look: memoryLook, Files: journal.MappedFiles(),
	}
	log, found, err := journal.Open(o, journal.Pos{}, func(e journal.Entry, text []byte) error {
		m := memoryText{}
		switch err := json.Unmarshal(text, &m); {
		case err == nil && len(m.Targets) > 0:
			_, err := beginPlaces(s.db, m.Targets)
			return err
		case err == nil && m.Ask != "":
			delete(open, e.Number)
			if asks[m.Ask] = (Saved{m.Ask, e.Number, m.Text}); m.Over {
				delete(asks, m.Ask)
			}
			return nil
		}
		d := &wire.Decision{}
		if json.Unmarshal(text, d) != nil {
			senseless++
			return nil
		}
		if m.Open {
			open[d.EventSeq], openAt[d.EventSeq] = d, &inMemory{Entry: e}
			return nil
		}
		delete(open, d.EventSeq)
		if d.EventSeq <= s.w.state.pruned {
			return nil
		}
		k := key{d.EventSeq, d.Decision, d.Answered != nil}
		is, err := hasDecision(s.db, d)
		if err == nil && !is && !known[k] {
			known[k], left, u.list = true, append(left, d), append(u.list, &inMemory{Entry: e})
		}
		return err
	})
	for _, other := range found.Aside {
		if errors.Is(other.Why, journal.ErrOther) { // of a database that is not there any more
			err = errors.Join(err, os.Remove(other.Path))
			continue
		}
		why := fmt.Sprintf("%v: what it has of decisions is not in the history: %s", other.Why, other.Path)
		s.loss.lost(wire.Loss{Why: why})
	}
	for _, d := range found.Damaged {
		if d.Kept != "" && !d.Torn { // a kill tears a record
			senseless += max(1, d.Records)
		}
	}
	if senseless > 0 {
		const why = "records of decisions that a kill left in memory cannot be read, and are not in the history: %d"
		s.loss.lost(wire.Loss{Why: fmt.Sprintf(why, senseless)})
	}
	if err == nil {
		err = linkDatabase(dir, s.opts.Path)
	}
	if err != nil {
		return fmt.Errorf("open the decisions in memory: %w", err)
	}
	for _, seq := range slices.Sorted(maps.Keys(open)) {
		d := open[seq]
		var decided bool
		if err := s.db.row(`SELECT ?1 <= ?2 OR EXISTS (SELECT 1 FROM decisions WHERE event_seq = ?1)`,
			int64(seq), int64(s.w.state.pruned)).Scan(&decided); err != nil {
			return fmt.Errorf("look for the decision about event %s: %w", d.EventID, err)
		}
		if !decided {
			left, u.list = append(left, d), append(u.list, openAt[seq])
		}
	}
	u.log, u.of, u.asked, u.asks = log, map[*wire.Decision]*inMemory{}, map[string]bool{}, map[string]*inMemory{}
	u.open = map[uint64]*inMemory{}
	for i, d := range left {
		u.of[d] = u.list[i] // it is there already
		if d.Answered != nil {
			u.asked[d.Answered.AskID] = true
		}
	}
	slices.SortFunc(u.list, func(a, b *inMemory) int {
		return cmp.Or(cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.Offset, b.Offset))
	})
	if err := s.saveLeft(asks); err != nil {
		return err
	}
	return s.writeLeft(left)
}

// saveLeft writes the asks that a killed process has left in memory alone. An ask whose end is on record is over:
// the kill came before its note.
func (s *decisions) saveLeft(asks map[string]Saved) error {
	for _, k := range asks {
		var over bool
		err := s.db.row(`SELECT ?1 BETWEEN 1 AND ?2 OR EXISTS (SELECT 1 FROM decisions
			WHERE event_seq = ?1 AND instr(detail, '"answered":') > 0)`,
			int64(k.EventSeq), int64(s.w.state.pruned)).Scan(&over)
		if err == nil && !over {
			err = saveAsk(s.db, k)
		}
		if err != nil {
			return fmt.Errorf("save the asks in memory: %w", err)
		}
		s.unwritten.append(0, memoryText{Ask: k.ID, Over: true}.text())
	}
	return nil
}

func (m memoryText) text() []byte {
	text, err := json.Marshal(m)
	if err != nil {
		return nil // texts alone: it cannot fail
	}
	return text
}

// writeLeft hands over the decisions that a killed process has left. A decision keeps its
// number, which subscribers know it by, unless it had none or a later decision is written: a
// target of forward may be past it then.
func (s *decisions) writeLeft(left []*wire.Decision) error {
	var newest uint64
	if err := s.db.row(`SELECT ifnull(max(seq), 0) FROM decisions`).Scan(&newest); err != nil {
		return fmt.Errorf("read the newest decision: %w", err)
	}
	slices.SortStableFunc(left, func(a, b *wire.Decision) int { return cmp.Compare(a.Seq, b.Seq) })
	first := slices.IndexFunc(left, func(d *wire.Decision) bool { return d.Seq > newest })
	if first < 0 {
		first = len(left)
	}
	for _, d := range left[first:] {
		s.w.seen = max(s.w.seen, d.Seq)
		s.Decided(d)
	}
	for _, d := range left[:first] {
		s.w.seen++
		d.Seq = s.w.seen
		s.Decided(d)
	}
	return nil
}

// hasDecision reports whether the database has a decision, which may have had no number
// when it came to memory. An ask and its answer are two about one event.
func hasDecision(db *database, d *wire.Decision) (is bool, err error) {
	err = db.row(`SELECT EXISTS (SELECT 1 FROM decisions
		WHERE event_seq = ? AND decision = ? AND (instr(detail, '"answered":') > 0) = ?)`,
		int64(d.EventSeq), string(d.Decision), d.Answered != nil).Scan(&is)
	return is, err
}

func linkDatabase(dir, path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	link := filepath.Join(dir, databaseLink)
	// Any other is made once more.
	if to, err := os.Readlink(link); err == nil && to == path {
		return nil
	}
	return errors.Join(os.RemoveAll(link), os.Symlink(path, link))
}

// Undecided holds in memory that the event of d, which is read before it returns, waits for its hooks. d is recorded
// if the process is killed before Deciding, Decided or SaveAsk is called about that event.
func (s *decisions) Undecided(d *wire.Decision) {
	u := &s.unwritten
	if u.log == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.text = append(d.AppendJSON(rawjson.AppendTrue(append(u.text[:0], '{'), "open", true)), '}')
	if h := u.append(d.EventSeq, u.text); h != nil {
		u.list, u.open[d.EventSeq] = append(u.list, h), h
	}
}

// decided notes that memory has more of an event than that it waits. The caller holds mu.
func (u *unwritten) decided(event uint64) {
	if h := u.open[event]; h != nil {
		delete(u.open, event)
		u.written(h)
	}
}

// Deciding holds a decision in memory that Decided is to be called with later; it may get
// its number, and the words of hooks in the shadow, in between.
func (s *decisions) Deciding(d *wire.Decision) { s.unwritten.add(d) }

// add writes a decision to memory, unless it is there.
func (u *unwritten) add(d *wire.Decision) {
	if u.log == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.of[d] != nil {
		return
	}
	u.text = append(d.AppendJSON(rawjson.AppendInt(append(u.text[:0], '{'), "seq", int64(d.Seq))), '}')
	if h := u.append(d.EventSeq, u.text); h != nil {
		u.list = append(u.list, h)
		u.of[d] = h
	}
	u.decided(d.EventSeq)
}

// append writes a record; nil = it is not in memory. The caller holds mu, or is Open.
func (u *unwritten) append(number uint64, text []byte) *inMemory {
	if u.log.Size() > maxUnwritten {
		u.moveUp()
	}
	if u.log.Size() > maxUnwritten || time.Now().Before(u.again) {
		return nil
	}
	return u.write(number, text)
}

// mostMoved is how many records moveUp moves: where there are more, the database is late.
const mostMoved = 64

// moveUp writes the records of the first segment that the database does not have, such as the one of a slow hook's
// event, once more at the end, so that the segment can be used again. It is called where memory is full.
func (u *unwritten) moveUp() {
	n := 0
	var few []*inMemory
	for ; n < len(u.list) && u.list[n].Segment == u.list[0].Segment; n++ {
		if h := u.list[n]; !h.written {
			few = append(few, h)
		}
	}
	if n == len(u.list) || len(few) > mostMoved {
		return
	}
	moved := 0
	for ; moved < len(few); moved++ {
		text, err := u.log.Head(few[moved].Entry)
		if err != nil {
			break
		}
		again := u.write(few[moved].Number, text)
		if again == nil {
			break
		}
		few[moved].Entry = again.Entry
	}
	u.list = slices.Concat(few[moved:], u.list[n:], few[:moved])
	u.free(u.list[0].Pos)
}

// write writes a record, however much there is; nil = it is not in memory. The caller holds mu.
func (u *unwritten) write(number uint64, text []byte) *inMemory {
	entries, err := u.log.Append([]journal.Item{{Number: number, Head: text}})
	if err != nil { // memory is full, or the folder was deleted
		if u.log.Renew() != nil {
			u.again = time.Now().Add(memoryRetry)
		}
		return nil
	}
	return &inMemory{Entry: entries[0]}
}

// addAsk writes an ask to memory, in the place of its earlier state; nil = it is not there.
func (u *unwritten) addAsk(k Saved) *inMemory {
	if u.log == nil {
		return nil
	}
	text := memoryText{Ask: k.ID, Text: k.Text}.text()
	u.mu.Lock()
	defer u.mu.Unlock()
	h := u.append(k.EventSeq, text)
	if h == nil {
		return nil
	}
	u.list = append(u.list, h)
	u.decided(k.EventSeq)
	if was := u.asks[k.ID]; was != nil {
		u.written(was)
	}
	u.asks[k.ID] = h
	return h
}

// addTargets writes the names of targets to memory, so that each gets the decisions that come after them. It returns
// the function to call when the database has their places; nil = they are not in memory.
func (u *unwritten) addTargets(names []string) (written func()) {
	if u.log == nil || len(names) == 0 {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	h := u.append(0, memoryText{Targets: names}.text())
	if h == nil {
		return nil
	}
	u.list = append(u.list, h)
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.written(h)
	}
}

// releaseAsk notes that the database has an ask as memory has it, or that the ask has ended, which is nil.
func (u *unwritten) releaseAsk(id string, as *inMemory) {
	if u.log == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	h := u.asks[id]
	if h == nil || as != nil && as != h {
		return
	}
	delete(u.asks, id)
	u.append(0, memoryText{Ask: id, Over: true}.text())
	u.written(h)
}

// release returns the function to call when the database has a decision; nil = the decision is not
// in memory.
func (u *unwritten) release(d *wire.Decision) (written func()) {
	if u.log == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	h, ask := u.of[d], ""
	if d.Answered != nil && u.asks[d.Answered.AskID] != nil {
		ask = d.Answered.AskID
	}
	if h == nil && ask == "" {
		return nil
	}
	delete(u.of, d)
	return func() {
		u.releaseAsk(ask, nil)
		if h != nil {
			u.mu.Lock()
			defer u.mu.Unlock()
			u.written(h)
		}
	}
}

// written lets the memory be used again that is before the first record which the
// database does not have. The caller holds mu.
func (u *unwritten) written(h *inMemory) {
	h.written = true
	last := h.Pos
	for len(u.list) > 0 && u.list[0].written {
		last = u.list[0].Pos
		u.list[0], u.list = nil, u.list[1:]
	}
	if len(u.list) > 0 {
		last = u.list[0].Pos
	}
	u.free(last)
}

// free lets the segments before a place be used again.
func (u *unwritten) free(before journal.Pos) {
	if u.freed.Segment < before.Segment {
		u.freed = before
		u.log.Free(before)
	}
}

// close ends it; with empty the database has all, and the folder goes.
func (u *unwritten) close(dir string, empty bool) {
	if u.log == nil {
		return
	}
	u.log.Close(empty)
	if empty {
		_ = os.RemoveAll(dir)            // the next daemon removes what is left
		_ = os.Remove(filepath.Dir(dir)) // unless another daemon has a folder in it
	}
}

package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/record/journal"
	"github.com/hookd/hookd/wire"
)

// unwritten has the decisions that the database does not have yet, in a journal whose
// folder is in memory: they outlive a kill of the process, and no verdict waits for a disk.
// A loss of power takes them. The zero unwritten holds none.
type unwritten struct {
	log   *journal.Journal // nil = there is none
	asked map[string]bool  // ids of the asks that end with what a kill has left; set by Open alone

	mu    sync.Mutex               // guards all below; held while memory is written to
	list  []*held                  // in the order of the journal, from the first that the database does not have
	of    map[*wire.Decision]*held // until Decided is called
	freed journal.Pos
	again time.Time // not tried before: memory was full
	text  []byte    // of the last one
}

// held is one decision in the journal.
type held struct {
	at      journal.Pos
	written bool // to the database
}

// unwritten takes this much memory: a segment, and at most; beyond that a decision is lost
// with the process.
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
	u := &s.unwritten
	o := journal.Options{
		Dir: dir, Owner: s.Epoch(), Bytes: unwrittenSegment, Look: memoryLook, Files: journal.MappedFiles(),
	}
	log, found, err := journal.Open(o, journal.Pos{}, func(e journal.Entry, text []byte) error {
		d := &wire.Decision{}
		if json.Unmarshal(text, d) != nil || d.EventSeq <= s.w.state.pruned {
			return nil
		}
		k := key{d.EventSeq, d.Decision, d.Answered != nil}
		is, err := hasDecision(s.db, d)
		if err == nil && !is && !known[k] {
			known[k], left, u.list = true, append(left, d), append(u.list, &held{at: e.Pos})
		}
		return err
	})
	for _, other := range found.Aside {
		if errors.Is(other.Why, journal.ErrOther) { // of a database that is not there any more
			err = errors.Join(err, os.Remove(other.Path))
		}
	}
	if err == nil {
		err = linkDatabase(dir, s.opts.Path)
	}
	if err != nil {
		return fmt.Errorf("open the decisions in memory: %w", err)
	}
	u.log, u.of, u.asked = log, map[*wire.Decision]*held{}, map[string]bool{}
	for i, d := range left {
		u.of[d] = u.list[i] // it is there already
		if d.Answered != nil {
			u.asked[d.Answered.AskID] = true
		}
	}
	return s.writeLeft(left)
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
// when it was held. An ask and its answer are two about one event.
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

// Deciding holds a decision in memory that Decided is to be called with later; it may get
// its number, and the words of hooks in the shadow, in between.
func (s *decisions) Deciding(d *wire.Decision) { s.unwritten.hold(d) }

// hold writes a decision to memory, unless it is there.
func (u *unwritten) hold(d *wire.Decision) {
	if u.log == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.of[d] != nil || u.log.Size() > maxUnwritten || time.Now().Before(u.again) {
		return
	}
	u.text = append(d.AppendJSON(rawjson.AppendInt(append(u.text[:0], '{'), "seq", int64(d.Seq))), '}')
	entries, err := u.log.Append([]journal.Record{{Number: d.EventSeq, Head: u.text}})
	if err != nil { // memory is full, or the folder was deleted
		if u.log.Renew() != nil {
			u.again = time.Now().Add(memoryRetry)
		}
		return
	}
	h := &held{at: entries[0].Pos}
	u.list = append(u.list, h)
	u.of[d] = h
}

// release returns the function to call when the database has a decision; nil = the decision is not
// in memory.
func (u *unwritten) release(d *wire.Decision) (written func()) {
	if u.log == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	h := u.of[d]
	if h == nil {
		return nil
	}
	delete(u.of, d)
	return func() { u.written(h) }
}

// written lets the memory be used again that is before the first decision which the
// database does not have.
func (u *unwritten) written(h *held) {
	u.mu.Lock()
	defer u.mu.Unlock()
	h.written = true
	last := h.at
	for len(u.list) > 0 && u.list[0].written {
		last = u.list[0].at
		u.list[0], u.list = nil, u.list[1:]
	}
	if len(u.list) > 0 {
		last = u.list[0].at
	}
	if u.freed.Segment < last.Segment {
		u.freed = last
		u.log.Free(last)
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

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/journal"
	"github.com/hookd/hookd/wire"
)

// probeBytes must fit before a full disk counts as healed.
const probeBytes = 256 << 10

// lateNumbers may still be given while the store closes.
const lateNumbers = 1024

// healer commits, and mends database and journal where that fails.
type healer struct {
	*core
	opener       *opener
	transactions *transactions
	pendings     *pendings
	mover        *mover
	tables       *tables
	loss         *lossNotes
}

// journalFailed takes the journal out of use until heal begins another segment. The next segment
// has replaced a deleted one: journalFailed moves the pending runs of the deleted one while they
// can still be read.
func (s *healer) journalFailed(cause error) {
	if !errors.Is(cause, journal.ErrGone) {
		s.fail(cause)
		return
	}
	kept, _ := s.pending.count()
	s.loss.report(Incident{Kind: IncidentJournal, Err: cause, Path: s.journaled.dir, Kept: kept})
	s.moveAll()
}

// recover begins a new file in place of a deleted one. It does the same for a file still corrupt
// after another look.
func (s *healer) recover(cause error) (err error) {
	s.replacing.Store(true)
	defer s.replacing.Store(false)
	if errors.Is(cause, errGone) {
		s.w.cutOff = true
		s.pendings.rescue()
		err = s.replace(IncidentGone, cause)
	} else {
		if err = s.examine(cause); err == nil {
			err = s.reopen()
		}
		if errors.Is(err, errCorrupt) {
			err = s.replace(IncidentCorrupt, err)
		}
	}
	if err != nil {
		s.fail(err)
	}
	return err
}

// replace moves a corrupt file aside, with its log, and opens a new one.
func (s *healer) replace(kind IncidentKind, cause error) error {
	in := Incident{Kind: kind, Err: cause, Path: s.opts.Path}
	if s.w.loaded {
		in.Kept, in.Lost = s.pending.count()
		in.DeadLetters = s.w.state.dead
	} else {
		s.w.orphans = true
		in.Lost, s.w.state.complete, in.More = countPending(s.opts.Path)
	}
	s.opener.detach()
	if kind == IncidentCorrupt {
		moved, err := moveAside(s.opts.Path)
		if err != nil {
			return fmt.Errorf("%w: move it aside: %w", cause, classify(err))
		}
		in.MovedTo = moved
	}
	// Even where the new file cannot be opened yet, the old one is gone.
	s.pending.dropLost()
	left, bad := readMarks(s.opener.lock)
	fresh := !s.w.loaded
	err := s.opener.attach()
	if err == nil && in.MovedTo != "" {
		saved := s.salvage(in.MovedTo)
		in.Kept, in.Lost = in.Kept+saved, max(0, in.Lost-saved)
	}
	if fresh {
		in.Kept, _ = s.pending.count()
		if in.More && bad == nil && left.boot {
			in.Lost, in.More = max(0, int(left.pending)-in.Kept), false
		}
	}
	s.loss.report(in)
	return err
}

// salvage writes the pending runs of a file that was moved aside to the new one, as far as they can
// still be read, and returns how many.
func (s *healer) salvage(path string) (runs int) {
	var batch []*op
	write := func() {
		s.commit(batch) // records that cannot be written yet wait for that
		batch = nil
	}
	_, _ = readAsideDatabase(context.Background(), path, func(e *events.Event, hooks []string) error {
		var carried bool
		row := s.db.row(`SELECT EXISTS (SELECT 1 FROM events WHERE seq = ?)`, int64(e.Seq))
		if err := row.Scan(&carried); err != nil || carried || s.pending.has(e.Seq) {
			return err
		}
		var rows []pendingRow
		for _, hook := range hooks {
			rows = append(rows, pendingRow{hook: hook})
		}
		exec := func(db *database) error {
			err := s.tables.insert(db, e, encodeEvent(e, true, s.limits.Load()), rows)
			if refused(err) {
				s.queue.drop(e.Seq)
			}
			return err
		}
		after := func() { s.pending.holdNew(e, rows) }
		batch = append(batch, &op{exec: exec, lean: exec, after: after})
		if runs += len(rows); len(batch) == batchOps {
			write()
		}
		return nil
	}) // what cannot be read counts as lost
	if len(batch) > 0 {
		write()
	}
	return runs
}

// countPending counts the runs that a damaged file still shows, and returns where the journal goes on;
// more tells that there may be more of them, and that the place is not known.
func countPending(path string) (n int, complete journal.Pos, more bool) {
	db, err := sql.Open("sqlite", dsn(path, "query_only(1)"))
	if err != nil { // more says so; so do the errors below
		return 0, complete, true
	}
	defer db.Close()
	var commits uint64
	var sum sql.NullInt64
	err = db.QueryRow("SELECT segment, offset, commits, sum FROM journaled").
		Scan(&complete.Segment, &complete.Offset, &commits, &sum)
	// Then there may be more.
	if err != nil || !sum.Valid || sum.Int64 != placeSum(complete, commits) {
		complete, more = journal.Pos{}, true
	}
	if err := db.QueryRow("SELECT count(*) FROM pending").Scan(&n); err != nil { // there may be more
		return 0, complete, true
	}
	var w amount // SQLite may not find all rows that there were
	err = db.QueryRow("SELECT waiting_events, waiting_runs, waiting_bytes, waiting_sum FROM journaled").
		Scan(&w.events, &w.runs, &w.bytes, &sum)
	// A count that is not sound adds nothing to the rows.
	if err == nil && sum.Valid && sum.Int64 == w.sum() {
		n = max(n, int(w.runs))
	}
	return n, complete, more
}

// moveAside renames the database and its log to a name that is free.
func moveAside(path string) (moved string, err error) {
	stem := path + ".corrupt-" + time.Now().UTC().Format("20060102T150405")
	moved = stem
	for i := 2; ; i++ {
		if _, err := os.Lstat(moved); errors.Is(err, fs.ErrNotExist) {
			break
		}
		moved = fmt.Sprintf("%s-%d", stem, i)
	}
	if err := os.Rename(path, moved); err != nil {
		return "", err
	}
	if err := os.Rename(path+"-wal", moved+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := os.Remove(path + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return moved, nil
}

// fail notes that nothing can be written, and tells once for each cause.
func (s *healer) fail(err error) {
	err = classify(err)
	o := &outage{err: err, since: time.Now()}
	// A full disk and a lock pass without help. After any other error the
	// handles may show data that is not on disk: https://sqlite.org/howtocorrupt.html
	o.reopen = !errors.Is(err, ErrFull) && !errors.Is(err, ErrBusy) || s.db == nil
	was := s.down.Load()
	if was != nil {
		o.since, o.reopen = was.since, o.reopen || was.reopen
	}
	s.down.Store(o)
	if was == nil || kind(was.err) != kind(err) {
		s.loss.report(Incident{Kind: IncidentDown, Err: err, Path: s.opts.Path})
	}
	s.transactions.publish()
}

// kind returns the sentinel that err is.
func kind(err error) error {
	sentinels := []error{ErrFull, ErrIO, ErrReadOnly, ErrBusy, errCorrupt, errGone, ErrNewer, ErrForeign, ErrLocked}
	for _, k := range sentinels {
		if errors.Is(err, k) {
			return k
		}
	}
	return nil
}

// heal tries whether the database can be written again.
func (s *healer) heal() {
	if s.down.Load().reopen {
		s.opener.detach()
		if err := s.opener.attach(); errors.Is(err, errCorrupt) {
			if s.recover(err) != nil {
				return
			}
		} else if err != nil {
			s.fail(err)
			return
		}
		s.down.Load().reopen = false
	}
	if log := s.journaled.journal(); log != nil && log.Broken() != nil {
		if err := log.Renew(); err != nil {
			s.fail(err)
			return
		}
	}
	if err := s.reread(); err != nil {
		s.fail(err)
		return
	}
	err := s.probe()
	if errors.Is(err, errCorrupt) || errors.Is(err, errGone) {
		if s.recover(err) != nil {
			return
		}
		err = s.probe()
	}
	if err != nil {
		s.fail(err)
		return
	}
	s.down.Store(nil)
	s.loss.report(Incident{Kind: IncidentHealed, Path: s.opts.Path})
}

// probe writes and deletes something large enough to matter.
func (s *healer) probe() error {
	err := s.transactions.transact([]*op{{exec: func(db *database) error {
		_, err := db.exec(`INSERT OR REPLACE INTO probe (id, data) VALUES (1, zeroblob(?))`, probeBytes)
		return err
	}}})
	if err != nil {
		return err
	}
	return s.transactions.transact([]*op{{exec: func(db *database) error {
		_, err := db.exec(`DELETE FROM probe`)
		return err
	}}})
}

// reread reads the entry that the journal has not given before. It fails until the journal gives
// the entry, or the entry is given up.
func (s *healer) reread() error {
	e := s.w.unread
	if e == nil {
		return nil
	}
	if s.journaled.onlyHere(e.Number) == e {
		_, err := s.journaled.read(e, true)
		if err != nil && !errors.Is(err, journal.ErrDamaged) && s.mover.patient(e.Segment) {
			return fmt.Errorf("%w: %w", ErrIO, err)
		}
		if err == nil {
			s.w.failing = time.Time{}
		}
	}
	s.w.unread = nil
	return nil
}

// patient reports whether a segment that cannot be read is tried again. If not, its records that cannot
// be read are given up.
func (s *mover) patient(segment uint64) bool {
	if s.w.givenUp[segment] {
		return false
	}
	if s.w.failing.IsZero() {
		s.w.failing = time.Now()
	}
	if time.Since(s.w.failing) < s.opts.unread {
		return true
	}
	s.w.givenUp[segment] = true
	return false
}

func (s *lossNotes) report(in Incident) {
	kinds := []IncidentKind{IncidentCorrupt, IncidentGone, IncidentJournal}
	if slices.Contains(kinds, in.Kind) && (in.Lost > 0 || in.More || in.DeadLetters > 0 || in.MovedTo != "") {
		s.lost(wire.Loss{
			Why: in.Err.Error(), Path: in.MovedTo, Lost: int64(in.Lost), More: in.More, DeadLetters: in.DeadLetters,
		})
	}
	if s.opts.Incident != nil {
		s.opts.Incident(in)
	}
}

// finish writes the remaining records, with one last attempt if the disk had failed.
func (s *writeLoop) finish() {
	s.drain()
	if s.down.Load() != nil {
		s.healer.heal()
		s.drain()
	}
	s.queue.refuse(ErrClosed)
	if left, _ := s.queue.load(); left > 0 {
		s.closeErr = fmt.Errorf("close store %s: %d records were not written: %w", s.opts.Path, left, s.down.Load().err)
	}
	empty := false
	if s.db != nil && s.down.Load() == nil {
		empty = s.moveLast()
	}
	if s.db != nil && s.down.Load() == nil { // the last events may not have gone through
		s.w.state.seq, s.w.state.floor = s.w.seen+lateNumbers, s.journaled.floor()
		err := s.w.state.save(s.db)
		if err == nil {
			err = noteUnused(s.db, s.w.seen+1, s.w.state.seq)
		}
		if err == nil {
			err = s.merging.merge("TRUNCATE")
		}
		if err != nil {
			s.closeErr = errors.Join(s.closeErr, fmt.Errorf("close store %s: %w", s.opts.Path, err))
			empty = false
		}
	}
	s.opener.detach()
	s.w.slack.release()
	if log := s.journaled.journal(); log != nil {
		log.Close(empty)
	}
	s.decisions.unwritten.close(s.opts.Memory, s.closeErr == nil)
	s.unlock()
}

// mostLast is how many events go from the journal into the database at the end. More
// would take too long; the next daemon has them from the journal.
const mostLast = 8 * moveRows

// moveLast moves the pending events into the database unless they are too many. It reports whether
// the journal is not needed any more.
func (s *writeLoop) moveLast() (empty bool) {
	if only, _, _ := s.journaled.load(); only > mostLast {
		return false
	}
	if s.healer.moveAll(); s.down.Load() != nil {
		return false
	}
	s.journaled.finish()
	s.w.full = true
	s.healer.commit(nil)
	return s.down.Load() == nil
}

// unlock lets another process open the database.
func (s *writeLoop) unlock() {
	s.crashPage.Load().close()
	if s.opener.lock != nil {
		s.opener.lock.Close()
	}
}

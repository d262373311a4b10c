package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/hookd/hookd/internal/record/journal"
)

// opener opens the database and closes it.
type opener struct {
	*core
	transactions *transactions
	mover        *mover
	merging      *merging
	forwarding   *forwarding
	sent         *sentIDs
	tables       *tables
	loss         *lossNotes
	manifest     *manifestTable

	lock *os.File // held as long as the store is open; nil = its folder cannot be written yet
}

// attach opens the database. The first time it reads the pending runs. Later memory knows better.
// If the file turns out to be another one, attach writes the runs pending in memory to it.
func (s *opener) attach() error {
	if s.lock == nil {
		if err := prepareFile(s.opts.Path); err != nil {
			return fmt.Errorf("open store %s: %w", s.opts.Path, classify(err))
		}
		lock, err := lockDatabase(s.opts.Path, s.opts.patience)
		if err != nil {
			return fmt.Errorf("open store: %w", classify(err))
		}
		s.lock = lock
	}
	db, err := openDatabase(s.opts.Path, s.opts.Durable, migrations)
	if err != nil {
		return err
	}
	if err := damagedRow(s.adopt(db)); err != nil {
		db.close()
		return fmt.Errorf("open store %s: %w", db.path, classify(err))
	}
	s.handles.Lock()
	s.db = db
	s.handles.Unlock()
	s.transactions.noteSync()
	s.merging.size(context.Background(), db.reading)
	s.transactions.publish()
	return nil
}

// adopt makes db the store's. It reserves numbers, which also shows whether
// the file can be written.
func (s *opener) adopt(db *database) error {
	st, err := readState(db)
	if err != nil {
		return err
	}
	left, err := readMarks(s.lock)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrIO, err)
	}
	known, former := s.w.state, st.epoch
	if known.epoch != "" { // this process has given numbers already: they go on
		st.seq = max(st.seq, known.seq)
	}
	if s.w.orphans {
		st.complete = known.complete
		if err := st.savePlace(db); err != nil {
			return err
		}
	}
	if s.w.loaded && (st.epoch != known.epoch || s.w.cutOff) {
		if err := s.carry(db, &st); err != nil {
			return err
		}
	}
	if known.epoch != "" {
		st.epoch = known.epoch
	}
	if known.epoch != "" && former != known.epoch {
		if err := noteFormer(db, former); err != nil {
			return err
		}
	}
	if !s.w.loaded {
		if !st.fresh {
			s.w.found = st
		}
		s.pending.reset(st.waiting)
		if err := s.manifest.manifests.fill(db); err != nil {
			return err
		}
		if err := s.w.attempts.fill(db.row(selectAttempts)); err != nil {
			return err
		}
		if err := s.losses.fill(db); err != nil {
			return err
		}
		if err := s.mover.openJournal(db, st, left); err != nil {
			return err
		}
		s.w.unchecked = s.w.opening && st.waiting.runs > mostAtOnce
		if !s.w.unchecked {
			if err := s.checkPending(db, &st.waiting); err != nil {
				return err
			}
		}
		s.tellLeft(st, left)
		if err := s.verifyChain(db); err != nil {
			return err
		}
		if err := s.noteNeverGiven(db, st); err != nil {
			return err
		}
	}
	reserved := st
	reserved.seq, reserved.floor = max(reserved.seq, s.journaled.greatest())+seqBlock, s.journaled.floor()
	if err := reserved.save(db); err != nil {
		return err
	}
	if err := db.remember(); err != nil {
		return err
	}
	if !s.w.loaded {
		s.w.found, s.w.failing = state{}, time.Time{}
		s.w.seen = max(s.w.seen, st.seq, s.journaled.greatest())
	}
	s.w.loaded, s.w.cutOff, s.w.orphans, s.w.state = true, false, false, reserved
	s.w.forget()
	return nil
}

// noteNeverGiven notes which of the numbers that an earlier daemon reserved were
// never given.
func (s *opener) noteNeverGiven(db *database, st state) error {
	if _, err := db.exec(`DELETE FROM unused WHERE last <= ?`, int64(st.pruned)); err != nil {
		return err
	}
	var kept uint64
	row := db.row(`SELECT max(ifnull((SELECT max(seq) FROM runs), 0),
		ifnull((SELECT max(seq) FROM events), 0), ifnull((SELECT max(seq) FROM decisions), 0))`)
	if err := row.Scan(&kept); err != nil {
		return err
	}
	kept = max(kept, s.journaled.greatest())
	s.w.seen = max(s.w.seen, kept)
	g, last, known := openCrashPage(s.lock, st.epoch)
	s.crashPage.Store(g)
	if !known || last < kept || last >= st.seq { // less than kept: an earlier process could not write it
		return nil
	}
	return noteUnused(db, last+1, st.seq)
}

func noteUnused(db *database, first, last uint64) error {
	_, err := db.exec(`INSERT OR REPLACE INTO unused (first, last) VALUES (?, ?)`, int64(first), int64(last))
	if err != nil {
		return fmt.Errorf("note numbers that were never given: %w", err)
	}
	return nil
}

// detach closes the database; readers fail until it is attached again.
func (s *opener) detach() {
	s.handles.Lock()
	db := s.db
	s.db = nil
	s.handles.Unlock()
	if db != nil {
		db.close()
	}
}

// carry writes to a new file the runs pending in memory, the manifests and the places of targets.
// It also writes the ids of events with their answers.
func (s *opener) carry(db *database, st *state) (err error) {
	if _, err := db.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	before := s.w.state
	s.w.state.waiting = st.waiting
	defer func() {
		if err != nil {
			db.exec("ROLLBACK")
		}
		s.transactions.endMoves(err == nil)
		s.w.state = before
	}()
	for _, w := range s.pending.wholeEvents() {
		p := s.limits.Load()
		row := encodeEvent(w.event, true, p)
		added, err := insertEvent(db, row)
		if err != nil {
			return err
		}
		s.pending.noteFate(row.seq, row.fate(p)) // the limits may be other ones now
		if added {
			st.events++
		}
		if err := s.tables.insertPending(db, row, w.rows, added); err != nil {
			return err
		}
	}
	for _, m := range s.manifest.manifests.all() {
		if err := saveManifest(db, m); err != nil {
			return err
		}
	}
	if err := s.forwarding.carryPlaces(db); err != nil {
		return err
	}
	if err := s.sent.carrySent(db); err != nil {
		return err
	}
	for _, l := range s.losses.all() {
		if err := saveLoss(db, l); err != nil {
			return err
		}
	}
	if err := s.carryJournal(db, st); err != nil {
		return err
	}
	_, err = db.exec("COMMIT")
	return err
}

// carryJournal moves all events into a new file that only the journal has.
func (s *opener) carryJournal(db *database, st *state) error {
	before := s.w.state.events
	s.w.ending.of(nil)
	s.w.sessions.forget()
	for _, e := range s.journaled.oldest(math.MaxInt, journal.Pos{}) {
		if err := s.mover.move(db, e); err != nil {
			return err
		}
	}
	st.events += s.w.state.events - before
	st.waiting, st.complete = s.w.state.waiting, s.journaled.complete()
	if err := st.savePlace(db); err != nil {
		return err
	}
	return s.w.sessions.flush(db)
}

// mostAtOnce is how many pending runs are checked while the store is opened. More are checked by the
// writer, and not read before: verdicts do not wait for that.
const mostAtOnce = 1 << 13

// checkPending checks the pending runs of a database that was not read before.
func (s *opener) checkPending(db *database, waiting *amount) error {
	if err := verifyPending(db); err != nil {
		return err
	}
	return s.dropEventless(db, waiting)
}

// checkLate checks the pending runs of a large backlog.
func (s *writeLoop) checkLate() {
	err := classify(damagedRow(s.opener.checkPending(s.db, &s.w.state.waiting)))
	switch {
	case errors.Is(err, errCorrupt):
		if s.healer.recover(err) != nil {
			return
		}
	case err != nil:
		s.healer.fail(err)
		return
	}
	s.w.unchecked = false
	s.healer.transactions.publish()
	close(s.checked)
}

// awaitCheck waits until the pending runs are known to be whole.
func (s *core) awaitCheck(ctx context.Context) error {
	select {
	case <-s.checked:
		return nil
	case <-s.ended:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// verifyPending fails with errCorrupt when the table of pending runs is damaged: SQLite reads one with
// a damaged page as if rows were not there.
func verifyPending(db *database) error {
	faults, err := query(db, scanID, `PRAGMA quick_check(pending)`)
	if err != nil {
		return err
	}
	if len(faults) != 1 || faults[0] != "ok" {
		return fmt.Errorf("%w: %s", errPending, faults[0])
	}
	return nil
}

// noteFormer notes a name that the database had, by which its journal is known.
func noteFormer(db *database, epoch string) error {
	if _, err := db.exec(`INSERT OR IGNORE INTO epochs (epoch) VALUES (?)`, epoch); err != nil {
		return fmt.Errorf("note the former name of the database: %w", err)
	}
	return nil
}

// dropEventless deletes pending runs whose events a damaged database does not have. The journal may
// have them. A row whose number was damaged is found in the place of another event: the index of ids knows better.
func (s *opener) dropEventless(db *database, waiting *amount) error {
	const eventless = `FROM pending WHERE seq NOT IN (SELECT seq FROM events) OR EXISTS (
		SELECT 1 FROM events e WHERE e.seq = pending.seq AND (SELECT seq FROM events WHERE id = e.id) <> e.seq)`
	var some bool
	if err := db.row(`SELECT EXISTS (SELECT 1 ` + eventless + `)`).Scan(&some); err != nil || !some {
		return err
	}
	rows, left, err := deleteUncounted(db, `DELETE `+eventless+` RETURNING seq`)
	if err != nil {
		return err // a file that is given up now still has them all
	}
	*waiting = left
	s.pending.inDatabase(left)
	lost := 0
	for _, seq := range rows {
		if !s.journaled.has(seq) {
			lost++
		}
	}
	if lost > 0 {
		kept, _ := s.pending.count()
		err := fmt.Errorf("%w: the events of %d pending runs are not there", errCorrupt, lost)
		s.loss.report(Incident{Kind: IncidentJournal, Err: err, Path: db.path, Kept: kept, Lost: lost})
	}
	return nil
}

// deleteUncounted deletes pending runs that are not counted one by one, and counts the others. It returns the
// numbers of their events.
func deleteUncounted(db *database, text string) (gone []uint64, left amount, err error) {
	if _, err := db.exec("BEGIN IMMEDIATE"); err != nil {
		return nil, left, err
	}
	defer func() {
		if err != nil {
			db.exec("ROLLBACK")
		}
	}()
	if gone, err = query(db, scanSeq, text); err != nil {
		return nil, left, err
	}
	if left, err = countWaiting(db); err != nil {
		return nil, left, err
	}
	if _, err := db.exec(`UPDATE journaled SET waiting_sum = NULL`); err != nil { // until the next commit
		return nil, left, err
	}
	_, err = db.exec("COMMIT")
	return gone, left, err
}

// tellLeft reports the records that the database does not have although an earlier process has written them.
func (s *opener) tellLeft(st state, left marks) {
	kept, _ := s.pending.count()
	in := Incident{Kind: IncidentJournal, Path: s.opts.Path, Kept: kept}
	switch {
	case s.w.orphans:
		return // replace tells
	case st.fresh && left.epoch != "":
		if in.Kind = IncidentGone; left.boot {
			in.Lost = max(0, int(left.pending)-kept)
		}
		if in.Err = errGone; in.Lost == 0 && kept == 0 {
			return
		}
	case st.misplaced:
		in.Err = errors.New("its place in the journal was damaged: all of the journal is read again")
	case !st.fresh && left.epoch == st.epoch && left.boot && left.commits > st.commits:
		in.Err = fmt.Errorf("its log was damaged: the last %d commits are not in it, events since then run again",
			left.commits-st.commits)
	default:
		return
	}
	s.loss.report(in)
}

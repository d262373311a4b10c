package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
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
	s.merging.size(context.Background(), db)
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
	reserved.seq = max(reserved.seq, s.journaled.greatest()) + seqBlock
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
	s.w.spans.forget()
	s.w.sessions.forget()
	s.w.attempts.forget()
	s.w.audit.forget()
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
		p := s.policy.Load()
		row := encodeEvent(w.event, true, p)
		added, err := insertEvent(db, row)
		if err != nil {
			return err
		}
		s.pending.noteFate(row.seq, row.fate(p)) // the policy may be another one now
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
			err := s.tables.insert(db, e, encodeEvent(e, true, s.policy.Load()), rows)
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
	scan := func(row scanner) (seq uint64, err error) { return seq, row.Scan(&seq) }
	if gone, err = query(db, scan, text); err != nil {
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
		s.w.state.seq = s.w.seen + lateNumbers
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

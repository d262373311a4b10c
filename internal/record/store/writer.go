package store

import (
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"runtime"
	"time"

	"github.com/hookd/hookd/internal/record/journal"
)

// seqBlock is how many numbers are reserved at once. They may run ahead of
// the written numbers by half of seqBlock.
const seqBlock = 1 << 20

// writer has the values that only the writing goroutine touches.
type writer struct {
	state       state
	seen        uint64 // the greatest number that passed through
	spans       *spanCache
	sessions    *sessionCache
	attempts    *attempts
	audit       auditChain
	texts       texts
	caches      []cache // the five before
	slack       slack
	moved       []*entry // from the journal into the database, by the transaction under way
	ending      ending
	orphans     bool      // the database was lost before it was read: the journal is what is left of it
	found       state     // of the database, where only its journal could not be read yet
	unread      *entry    // that the journal has not given; nil = there is none
	failing     time.Time // when the journal was first not read; zero = it is
	falseAlarms falseAlarms
	givenUp     map[uint64]bool // segments of the journal whose unreadable records are given up
	freed       journal.Pos     // up to where the journal was freed
	unsynced    bool            // there are commits that a loss of power may take back
	synced      time.Time       // when there were none
	full        bool            // the next commit is synced
	loaded      bool            // the database was read once, so memory has all pending runs
	opening     bool            // Open has not returned
	unchecked   bool            // the pending runs of the database are still to be checked
	text        []byte          // of the row that was written last
	cutOff      bool            // a part of the database was deleted: pending runs are written again
}

// cache has values as the transaction under way sees them.
type cache interface {
	flush(db *database) error // writes changed values
	forget()                  // drops values that are not on disk
}

func (w *writer) forget() {
	for _, c := range w.caches {
		c.forget()
	}
}

// state is the row of the table state, and the number of dead letters.
type state struct {
	epoch              string
	seq, pruned        uint64
	runs, events, dead int64
	waiting            amount      // pending in the database
	complete           journal.Pos // the database has all that comes before this place of the journal
	commits            uint64      // transactions, ever
	fresh              bool        // the database is new
	misplaced          bool        // complete was damaged, and is zero
	urgent             bool        // seq or pruned have changed
	unsaved            int         // commits since the counts were saved
	floor              uint64      // of the journal: rows from there on are counted when the database is opened
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// saveEvery is after how many commits the counts are saved. Records written
// since are counted when the database is opened.
const saveEvery = 64

// writeLoop is the goroutine that writes, from its start to its end.
type writeLoop struct {
	*core
	healer    *healer
	opener    *opener
	mover     *mover
	merging   *merging
	appender  *appender
	decisions *decisions
}

// fallBack numbers on from a point that no sequence which began at 1 has
// reached: where the database cannot tell.
func (s *writeLoop) fallBack() {
	if s.w.found.epoch != "" { // all numbers up to found.seq are reserved
		s.w.state, s.w.seen = s.w.found, s.w.found.seq
		return
	}
	s.w.seen = uint64(time.Now().UnixMilli())
	s.w.state = state{epoch: rand.Text(), seq: s.w.seen}
}

// write is the goroutine that writes: it commits the ops that callers wait for at once and the rest
// after a moment. It tries again while it cannot.
func (s *writeLoop) write() {
	defer s.working.Done()
	var retry <-chan time.Time
	sync, idle := time.NewTimer(time.Hour), time.NewTimer(time.Hour)
	defer sync.Stop()
	defer idle.Stop()
	for {
		if s.w.unchecked && s.down.Load() == nil {
			s.checkLate()
		}
		if s.down.Load() != nil && retry == nil {
			retry = time.After(s.opts.probe)
		}
		select {
		case err := <-s.suspect:
			s.healer.recover(err)
		case err := <-s.appender.distrusted:
			s.healer.journalFailed(err)
		case <-sync.C:
			s.sync()
		case <-idle.C:
			s.shorten(false)
		case <-s.queue.urgent:
		case <-retry:
			retry = nil
			s.healer.heal()
		case <-s.ended:
			s.finish()
			return
		}
		s.drain()
		s.shorten(true)
		if s.w.unsynced {
			sync.Reset(syncEvery)
		}
		if only, _, _ := s.journaled.load(); only > 0 {
			idle.Reset(idleAfter)
		}
	}
}

// drain commits until nothing is left or nothing can be written.
func (s *writeLoop) drain() {
	for s.down.Load() == nil {
		runtime.Gosched() // callers about to add a record join this commit: fewer commits under load
		batch := s.queue.take()
		if len(batch) == 0 {
			return
		}
		s.healer.commit(batch)
		s.shorten(true)
		nudge(s.appender.relief)
	}
	nudge(s.appender.relief)
	s.queue.refuse(s.down.Load().err)
}

// commit writes a batch in one transaction and answers the callers that wait. When
// the file turns out lost, the batch is written to the file that takes its
// place; when nothing can be written, records stay and the others are refused.
func (s *healer) commit(batch []*op) {
	err := s.transactions.transact(batch)
	if errors.Is(err, errCorrupt) || errors.Is(err, errGone) {
		if err = s.recover(err); err == nil {
			err = s.transactions.transact(batch)
		}
	}
	if err != nil {
		s.fail(err)
		s.giveBack(batch, s.down.Load())
		return
	}
	s.transactions.publish()
	for _, o := range batch {
		if o.err == nil && o.after != nil {
			o.after()
		}
		o.answer(o.err)
	}
	s.tellWaiting()
}

// giveBack refuses the ops that callers wait for and keeps the records.
func (s *healer) giveBack(batch []*op, o *outage) {
	var records []*op
	for _, op := range batch {
		switch {
		case op.done == nil:
			records = append(records, op)
		default:
			op.answer(o.err)
		}
	}
	s.queue.back(records)
}

// transactions write to the database.
type transactions struct {
	*core
	mover   *mover
	merging *merging
	tables  *tables
}

// transact runs the batch between BEGIN and COMMIT. After a failure no part of the batch
// is in force, neither on disk nor in memory.
func (s *transactions) transact(batch []*op) (err error) {
	before := s.w.state
	s.w.ending.of(batch)
	defer func() {
		if err != nil {
			s.db.exec("ROLLBACK") // fails when SQLite has rolled back by itself
			s.endMoves(false)
			s.w.state = before
			s.w.forget()
			err = classify(err)
		}
	}()
	if err := s.db.uncut(); err != nil {
		return err
	}
	full := s.w.mustSync(batch, s.opts.Durable)
	if err := s.db.syncCommits(full); err != nil {
		return err
	}
	if _, err := s.db.exec("BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	bytes, news := 0, 0
	for _, o := range batch {
		bytes += opCost + o.size
		news += o.size
		if o.event != 0 {
			if err := s.mover.bring(s.db, o.event); err != nil {
				return err
			}
		}
		if o.err = o.exec(s.db); o.err != nil && !refused(o.err) {
			return o.err
		}
	}
	for _, e := range s.w.moved {
		bytes += opCost + int(e.Bytes())
		news += int(e.Bytes())
	}
	s.tables.saw(max(s.queue.leftOut(), s.journaled.greatest()))
	for _, c := range s.w.caches {
		if err := c.flush(s.db); err != nil {
			return err
		}
	}
	if err := s.saveState(); err != nil {
		return err
	}
	if _, err := s.db.exec("COMMIT"); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	s.w.slack.renew()
	s.w.attempts.committed()
	s.endMoves(true)
	s.committed(full)
	s.merging.wrote(bytes, news)
	if err := s.db.present(); err != nil {
		return err
	}
	return s.db.measure()
}

// syncEvery is how long a commit may wait until a loss of power cannot take it back, unless
// a caller waits for it.
const syncEvery = 250 * time.Millisecond

// mustSync reports whether the commit of a batch, and with it all before it, is to be on disk when
// it returns. Accepted events are there already.
func (w *writer) mustSync(batch []*op, durable Durability) bool {
	if durable != DurableFsync {
		return false
	}
	if w.full || time.Since(w.synced) > syncEvery {
		return true
	}
	for _, o := range batch {
		if o.done != nil {
			return true
		}
	}
	return false
}

// committed notes that a transaction is in the database. When that is on disk, the journal
// may forget its entries.
func (s *transactions) committed(full bool) {
	s.w.unsynced = !full && s.opts.Durable == DurableFsync
	if s.w.unsynced {
		return
	}
	s.noteSync()
	if at := s.w.state.complete; s.w.freed.Before(at) {
		s.w.freed = at
		s.journaled.journal().Free(at)
	}
}

// noteSync notes that a loss of power takes back nothing of the database.
func (s *transactions) noteSync() {
	s.w.synced = time.Now()
	if s.opts.synced != nil {
		s.opts.synced()
	}
}

// sync has everything that was committed written to the disk.
func (s *writeLoop) sync() {
	if s.w.unsynced && s.down.Load() == nil {
		s.w.full, s.w.state.urgent = true, true
		s.healer.commit(nil)
		s.w.full = false
	}
}

// endMoves ends a transaction for the events that it has moved out of the journal.
func (s *transactions) endMoves(done bool) {
	s.journaled.endMoves(s.w.moved, done)
	if done {
		s.pending.stored(s.w.moved, s.w.state.waiting)
	}
	clear(s.w.moved)
	s.w.moved = s.w.moved[:0]
}

// How long nothing was accepted until events that are still pending go into the database,
// which is later needed in any case if they stay.
const idleAfter = time.Second

// shorten moves the pending events from the journal into the database while the journal is
// too long, or, unless it is only for that, when there is time.
func (s *writeLoop) shorten(onlyLong bool) {
	for s.down.Load() == nil {
		only, _, last := s.journaled.load()
		if only == 0 || !s.journaled.long() && (onlyLong || time.Since(last) < idleAfter) {
			return
		}
		var more bool
		s.healer.commit([]*op{{exec: func(db *database) (err error) {
			more, err = s.mover.moveOldest(db, journal.Pos{})
			return err
		}}})
		nudge(s.appender.relief)
		if !more || s.queue.pressing() {
			return
		}
	}
}

// saw notes a number that is in use.
func (s *tables) saw(seq uint64) {
	s.w.seen = max(s.w.seen, seq)
	if s.w.seen+seqBlock/2 > s.w.state.seq {
		s.w.state.seq = s.w.seen + seqBlock
		s.w.state.urgent = true
	}
}

func (s *transactions) saveState() error {
	st := &s.w.state
	st.complete = s.journaled.complete()
	st.commits++
	if err := st.savePlace(s.db); err != nil {
		return err
	}
	st.unsaved++
	if left, _ := s.queue.load(); (st.unsaved < saveEvery || left > 0) && !st.urgent {
		return nil // what is left may have numbers below those that would be taken for counted
	}
	st.unsaved, st.urgent, st.floor = 0, false, s.journaled.floor()
	return st.save(s.db)
}

// savePlace writes up to where the database has the entries of the journal, and how many commits it has.
func (st state) savePlace(db *database) error {
	p, w := st.complete, st.waiting
	_, err := db.exec(`UPDATE journaled SET segment = ?, offset = ?, commits = ?, sum = ?,
			waiting_events = ?, waiting_runs = ?, waiting_bytes = ?, waiting_sum = ?`,
		int64(p.Segment), p.Offset, int64(st.commits), placeSum(p, st.commits), w.events, w.runs, w.bytes, w.sum())
	if err != nil {
		return fmt.Errorf("save the place in the journal: %w", err)
	}
	return nil
}

func placeSum(p journal.Pos, commits uint64) int64 {
	return sumOf(p.Segment, uint64(p.Offset), commits)
}

func (a amount) sum() int64 { return sumOf(uint64(a.events), uint64(a.runs), uint64(a.bytes)) }

func sumOf(numbers ...uint64) int64 {
	var b []byte
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return int64(crc32.Checksum(b, castagnoli))
}

func (st state) save(db *database) error {
	_, err := db.exec(`INSERT OR REPLACE INTO state (id, epoch, seq, pruned, runs, events, counted)
		SELECT 1, ?1, ?2, ?3, ?4 - (SELECT count(*) FROM runs WHERE seq > upto),
			?5 - (SELECT count(*) FROM events WHERE seq > upto), upto
		FROM (SELECT min(?6 - 1,
			max(ifnull((SELECT max(seq) FROM runs), 0), ifnull((SELECT max(seq) FROM events), 0))) AS upto)`,
		st.epoch, int64(st.seq), int64(st.pruned), st.runs, st.events, int64(st.floor))
	if err != nil {
		return fmt.Errorf("save state: %w", err)
	}
	return nil
}

// readState returns the state of the database, a new one if it has none.
func readState(db *database) (st state, err error) {
	row := db.row(`SELECT epoch, seq, pruned,
			runs + (SELECT count(*) FROM runs WHERE seq > counted),
			events + (SELECT count(*) FROM events WHERE seq > counted),
			(SELECT count(*) FROM dead), segment, offset, commits, sum,
			waiting_events, waiting_runs, waiting_bytes, waiting_sum
		FROM state, journaled`)
	var sum, waitingSum sql.NullInt64 // NULL = an earlier version has written it
	err = row.Scan(&st.epoch, &st.seq, &st.pruned, &st.runs, &st.events, &st.dead,
		&st.complete.Segment, &st.complete.Offset, &st.commits, &sum,
		&st.waiting.events, &st.waiting.runs, &st.waiting.bytes, &waitingSum)
	if errors.Is(err, sql.ErrNoRows) {
		return state{epoch: rand.Text(), complete: journal.Pos{Segment: 1}, fresh: true}, nil
	}
	if err != nil {
		return st, fmt.Errorf("read state: %w", err)
	}
	if sum.Valid && sum.Int64 != placeSum(st.complete, st.commits) {
		st.complete, st.commits, st.misplaced = journal.Pos{}, 0, true
	}
	if !waitingSum.Valid || waitingSum.Int64 != st.waiting.sum() {
		st.waiting, err = countWaiting(db)
	}
	return st, err
}

// countWaiting counts how much is pending in the database.
func countWaiting(db *database) (a amount, err error) {
	row := db.row(`SELECT count(*), ifnull(sum(runs), 0), ifnull(sum(size), 0)
		FROM (SELECT seq, count(*) AS runs FROM pending GROUP BY seq) LEFT JOIN events USING (seq)`)
	if err := row.Scan(&a.events, &a.runs, &a.bytes); err != nil {
		return a, fmt.Errorf("count what is pending: %w", err)
	}
	return a, nil
}

// publish makes the counts visible to Health.
func (s *transactions) publish() {
	st := &s.w.state
	s.pruned.Store(st.pruned)
	g := s.crashPage.Load()
	g.mark(markCommits, st.commits)
	s.pending.inDatabase(st.waiting)
	_, runs, _ := s.pending.load()
	g.mark(markPending, uint64(runs))
	if e := s.counts.epoch.Load(); e == nil || *e != st.epoch {
		epoch := st.epoch
		s.counts.epoch.Store(&epoch)
	}
	s.counts.runs.Store(st.runs)
	s.counts.events.Store(st.events)
	s.counts.dead.Store(st.dead)
	if s.w.audit.known {
		s.counts.audited.Store(s.w.audit.head.N)
	}
}

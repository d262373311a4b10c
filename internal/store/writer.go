package store

import (
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// seqBlock is how many numbers are reserved at once. They may run ahead of
// what was written by half of it.
const seqBlock = 1 << 16

// writer is what only the writing goroutine touches.
type writer struct {
	state    state
	seen     uint64 // the greatest number that passed through
	spans    *spanCache
	sessions *sessionCache
	begun    *begun
	audit    auditChain
	doubt    []uint64 // events whose refused commit may be on disk nevertheless
	loaded   bool     // the database was read once, so memory knows what is pending
	decided  uint64   // decisions since the last commit
	cutOff   bool     // a part of the database was deleted: what is pending is written again
}

// state is the row of the table state, and the number of dead letters.
type state struct {
	epoch              string
	seq, pruned        uint64
	runs, events, dead int64
	urgent             bool // seq or pruned have changed
	unsaved            int  // commits since the counts were saved
}

// saveEvery is after how many commits the counts are saved. What was written
// since is counted when the database is opened.
const saveEvery = 64

// fallBack numbers on from a point that no sequence which began at 1 has
// reached: where the database cannot tell.
func (s *Store) fallBack() {
	s.w.seen = uint64(time.Now().UnixMilli())
	s.w.state = state{epoch: rand.Text(), seq: s.w.seen}
}

// write is the goroutine that writes: it commits what callers wait for at
// once and the rest after a moment, and tries again while it cannot.
func (s *Store) write() {
	defer s.working.Done()
	var retry <-chan time.Time
	for {
		if s.down.Load() != nil && retry == nil {
			retry = time.After(s.opts.probe)
		}
		select {
		case err := <-s.suspect:
			s.recover(err)
		case <-s.queue.urgent:
		case <-retry:
			retry = nil
			s.heal()
		case <-s.ended:
			s.finish()
			return
		}
		s.drain()
	}
}

// drain commits until nothing is left or nothing can be written.
func (s *Store) drain() {
	for s.down.Load() == nil {
		runtime.Gosched() // callers about to add a record join this commit: fewer commits under load
		batch := s.queue.take()
		if len(batch) == 0 {
			return
		}
		s.commit(batch)
	}
	s.queue.refuse(s.down.Load().err)
}

// commit writes a batch in one transaction and answers the callers that wait. When
// the file turns out lost, the batch is written to the one that takes its
// place; when nothing can be written, records stay and the others are refused.
func (s *Store) commit(batch []*op) {
	err := s.transact(batch)
	if errors.Is(err, errCorrupt) || errors.Is(err, errGone) {
		if err = s.recover(err); err == nil {
			err = s.transact(batch)
		}
	}
	if err != nil {
		s.fail(err)
		s.giveBack(batch, s.down.Load())
		return
	}
	for _, o := range batch {
		if o.err == nil && o.after != nil {
			o.after()
		}
		o.answer(o.err)
	}
	s.publish()
}

// giveBack refuses what callers wait for and keeps the records.
func (s *Store) giveBack(batch []*op, o *outage) {
	var records []*op
	for _, op := range batch {
		switch {
		case op.done == nil:
			records = append(records, op)
		case op.seq != 0 && o.reopen:
			s.w.doubt = append(s.w.doubt, op.seq)
			fallthrough
		default:
			op.answer(o.err)
		}
	}
	s.queue.back(records)
}

// transact runs the batch between BEGIN and COMMIT. On failure nothing of it
// is in force, neither on disk nor in memory.
func (s *Store) transact(batch []*op) (err error) {
	before := s.w.state
	defer func() {
		if err != nil {
			s.db.exec("ROLLBACK") // fails when SQLite has rolled back by itself
			s.w.state = before
			s.w.spans.forget()
			s.w.sessions.forget()
			s.w.begun.forget()
			s.w.audit.forget()
			err = classify(err)
		}
	}()
	if err := s.db.uncut(); err != nil {
		return err
	}
	if _, err := s.db.exec("BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	bytes, news := 0, 0
	for _, o := range batch {
		bytes += opCost + o.size
		news += o.size
		if o.err = o.exec(s.db); o.err != nil && !refused(o.err) {
			return o.err
		}
	}
	s.saw(s.queue.leftOut())
	if err := s.w.spans.flush(s.db); err != nil {
		return err
	}
	if err := s.w.sessions.flush(s.db); err != nil {
		return err
	}
	if err := s.w.begun.flush(s.db); err != nil {
		return err
	}
	if err := s.w.audit.flush(s.db); err != nil {
		return err
	}
	if err := s.saveState(); err != nil {
		return err
	}
	if _, err := s.db.exec("COMMIT"); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	s.w.begun.settle()
	s.wrote(bytes, news)
	if s.w.decided > 0 {
		s.decided.Add(s.w.decided)
		s.w.decided = 0
		nudge(s.spoken)
	}
	if err := s.db.present(); err != nil {
		return err
	}
	return s.db.measure()
}

// saw notes a number that is in use.
func (s *Store) saw(seq uint64) {
	s.w.seen = max(s.w.seen, seq)
	if s.w.seen+seqBlock/2 > s.w.state.seq {
		s.w.state.seq = s.w.seen + seqBlock
		s.w.state.urgent = true
	}
}

func (s *Store) saveState() error {
	st := &s.w.state
	st.unsaved++
	if left, _ := s.queue.load(); (st.unsaved < saveEvery || left > 0) && !st.urgent {
		return nil // what is left may have numbers below those that would be taken for counted
	}
	st.unsaved, st.urgent = 0, false
	return st.save(s.db)
}

func (st state) save(db *database) error {
	_, err := db.exec(`INSERT OR REPLACE INTO state (id, epoch, seq, pruned, runs, events, counted)
		VALUES (1, ?, ?, ?, ?, ?,
			max(ifnull((SELECT max(seq) FROM runs), 0), ifnull((SELECT max(seq) FROM events), 0)))`,
		st.epoch, int64(st.seq), int64(st.pruned), st.runs, st.events)
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
			(SELECT count(*) FROM dead)
		FROM state`)
	err = row.Scan(&st.epoch, &st.seq, &st.pruned, &st.runs, &st.events, &st.dead)
	if errors.Is(err, sql.ErrNoRows) {
		return state{epoch: rand.Text()}, nil
	}
	if err != nil {
		return st, fmt.Errorf("read state: %w", err)
	}
	return st, nil
}

// publish makes the counts visible to Health.
func (s *Store) publish() {
	st := &s.w.state
	if e := s.counts.epoch.Load(); e == nil || *e != st.epoch {
		epoch := st.epoch
		s.counts.epoch.Store(&epoch)
	}
	s.counts.runs.Store(st.runs)
	s.counts.events.Store(st.events)
	s.counts.dead.Store(st.dead)
}

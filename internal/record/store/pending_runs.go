package store

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// pendingRuns notes how runs go on and end.
type pendingRuns struct {
	*core
	tables *tables
}

// Started notes that an attempt has begun, so that the next daemon knows that it
// was interrupted. An attempt that ends before the next commit of records leaves no
// trace.
func (s *pendingRuns) Started(k events.PendingKey, runID string, at time.Time) {
	s.later(0, func(*database) error { s.w.attempts.start(k, runID, nanos(at)); return nil })
}

// Done ends a pending run and records how it went. The record is not changed any more, here
// as in Retry, GiveUp and Record.
func (s *pendingRuns) Done(k events.PendingKey, run *wire.Run) {
	s.end(k, run, true, s.deletePending)
}

// Forget ends a pending run without a record.
func (s *pendingRuns) Forget(k events.PendingKey) {
	s.end(k, nil, true, s.deletePending)
}

// Retry records an attempt and leaves its run pending: attempt counts it, and
// the next one is due then.
func (s *pendingRuns) Retry(k events.PendingKey, run *wire.Run, due time.Time) {
	row := pendingRow{hook: k.Hook, due: nanos(due)}
	lean := func(db *database) error {
		s.w.attempts.end(k)
		err := db.row(`UPDATE pending SET attempt = attempt + 1, due = ? WHERE seq = ? AND hook = ? RETURNING attempt`,
			row.due, int64(k.Seq), k.Hook).Scan(&row.attempt)
		if errors.Is(err, sql.ErrNoRows) { // the run was lost
			return nil
		}
		return err
	}
	s.record(k, run, false, lean, func() { s.pending.change(k, row) })
}

// GiveUp ends a pending run as a dead letter: its retries are used up, or it is
// too old to be run. A run without an ID is not recorded; there was none.
func (s *pendingRuns) GiveUp(k events.PendingKey, run *wire.Run, reason string) {
	s.end(k, run, false, func(db *database, k events.PendingKey) error {
		attempts := 0
		if run.ID != "" {
			attempts = 1
		}
		n, err := db.exec(`INSERT INTO dead (seq, event_id, event, hook, attempts, reason, run_id, at)
			SELECT p.seq, e.id, e.name, p.hook, p.attempt + ?, ?, ?, ?
			FROM pending p JOIN events e ON e.seq = p.seq WHERE p.seq = ? AND p.hook = ?`,
			attempts, reason, run.ID, time.Now().UnixNano(), int64(k.Seq), k.Hook)
		if err != nil {
			return err
		}
		s.w.state.dead += n
		return s.deletePending(db, k)
	})
}

// Record writes a run that was never pending: of an event that waited for its
// verdict.
func (s *pendingRuns) Record(run *wire.Run) { s.record(events.PendingKey{}, run, false, nil, nil) }

// end ends a pending run; with over nothing needs the event for its sake any more.
func (s *pendingRuns) end(
	k events.PendingKey, run *wire.Run, over bool, how func(*database, events.PendingKey) error,
) {
	s.record(k, run, over, func(db *database) error { return how(db, k) }, func() { s.pending.end(k) })
}

func (s *pendingRuns) deletePending(db *database, k events.PendingKey) error {
	s.w.attempts.end(k)
	if s.journaled.over(k.Seq) {
		return nil // it has no rows
	}
	if err := s.tables.dropPending(db, k.Seq, k.Hook); err != nil {
		return fmt.Errorf("end pending run: %w", err)
	}
	if s.pending.fate(k.Seq).final {
		return nil
	}
	return releaseEvent(db, k.Seq)
}

// record queues lean, and the record of a run if there is one. Its number may not have been
// seen before, so it is noted even when the record is dropped.
func (s *pendingRuns) record(k events.PendingKey, run *wire.Run, over bool, lean func(*database) error, after func()) {
	o := &op{lean: lean, after: after, exec: lean, event: k.Seq, brings: s.pending.size(k.Seq)}
	if over {
		o.ends = k.Hook
	}
	if run != nil && run.ID != "" {
		s.crashPage.Load().note(run.Seq)
		var row *runRow
		o.size, o.number = runSize(run), run.Seq
		o.exec = func(db *database) error {
			if lean != nil {
				if err := lean(db); err != nil {
					return err
				}
			}
			if row == nil { // here, since redaction may take long
				p := s.limits.Load()
				row = encodeRun(run, p, s.pending.fate(k.Seq).clean == p)
			}
			err := s.tables.insertRun(db, row)
			if refused(err) { // the pending run has ended all the same
				s.queue.drop(run.Seq)
				return nil
			}
			return err
		}
	}
	if o.exec != nil {
		s.queue.add(o)
	}
}

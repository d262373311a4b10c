package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/hookd/hookd/internal/events"
)

// Prepared is the row that Accept or Note writes for an event, made before the event has its
// number. Making the row takes as long as looking for secrets in the data that history keeps.
type Prepared struct {
	row    eventRow
	limits *Limits
}

// acceptor takes events in.
type acceptor struct {
	*core
	appender *appender
	tables   *tables
	sent     *sentIDs
}

// Prepare makes the row of e, whose data must not change any more; pending
// tells that hooks wait for it. It returns nil for an event that no hook waits for, or has
// decided about, where there is no room for it: most of a flood are left out.
func (s *acceptor) Prepare(e *events.Event, pending bool) *Prepared {
	if !pending && !e.Judged && !s.queue.hasRoom(e.Time) {
		return nil
	}
	return s.prepare(e, pending)
}

func (s *acceptor) prepare(e *events.Event, pending bool) *Prepared {
	if e.Unread && s.opts.About != nil {
		s.opts.About(e)
		e.Unread = false
	}
	p := s.limits.Load()
	return &Prepared{encodeEvent(e, pending, p), p}
}

// Accept writes e, with one pending run for each hook, to the journal. It calls done when the
// record is on disk, or with the reason why it is not. e must have its number and id
// and is not changed any more. prepared is the result of Prepare for e; nil = Accept
// makes it now. The hooks are in order of registration, each
// named by the id that comes back in Pending.Hook; the same hook twice is one
// run. The store's own goroutine calls done, in the order of the calls
// of Accept: done must not block and must not wait for the Store.
//
// An error means that nothing was accepted and done is not called: ErrQueueFull
// when Limits.QueueBytes wait already, the error of Health while nothing can be
// written, ErrIO while the disk does not take the events before it, ErrClosed. After an
// error passed to done nothing was accepted either. But a power loss right after ErrIO
// may leave the event on disk.
func (s *acceptor) Accept(e *events.Event, prepared *Prepared, hooks []string, done func(error)) error {
	s.crashPage.Load().note(e.Seq)
	err := s.Admits(len(e.Data), len(hooks) > 0)
	if err == nil {
		hooks = unique(hooks)
		if prepared == nil {
			prepared = s.prepare(e, len(hooks) > 0)
		}
		err = s.arrive(e, prepared, hooks, done)
	}
	if err != nil {
		return fmt.Errorf("accept event %s: %w", e.EventID, err)
	}
	return nil
}

// arrive hands an event to the journal.
func (s *acceptor) arrive(e *events.Event, p *Prepared, hooks []string, done func(error)) error {
	if s.journaled.has(e.Seq) || s.pending.has(e.Seq) {
		return fmt.Errorf("its number %d was given before", e.Seq)
	}
	row := p.row
	row.seq = e.Seq
	record, err := encodeAccepted(row, hooks, sentOf(e))
	if err != nil {
		return err
	}
	a := &accepting{record: record, event: e, hooks: hooks, fate: row.fate(p.limits), sent: e.Sent != nil}
	a.done = func(err error) {
		if err != nil {
			err = fmt.Errorf("accept event %s: %w", e.EventID, err)
		}
		done(err)
	}
	if !s.appender.arrivals.add(a) {
		return ErrClosed
	}
	return nil
}

// mostArriving is how many bytes of events wait in memory for a disk that hangs: eight of the largest events.
const mostArriving = 128 << 20

// Admits says why Accept would fail now, for an event of size bytes.
func (s *acceptor) Admits(size int, pending bool) error {
	if down := s.down.Load(); down != nil {
		return down.err
	}
	_, _, bytes := s.pending.load()
	arriving := s.appender.arrivals.bytes.Load()
	switch bytes += arriving; {
	case arriving > mostArriving:
		return errBehind
	case pending && bytes > 0 && bytes+int64(size) > s.limits.Load().QueueBytes:
		return ErrQueueFull
	}
	return nil
}

// Note writes an event that no hook waits for, later and without waiting. Where
// events come faster than the store can write them, it leaves some out, and Since
// misses them. It leaves out no id that a sender gave its event, and no event that hooks
// decide about. Note keeps nothing of e but its texts. prepared is the result of
// Prepare for e; nil = the store makes it later from a copy.
func (s *acceptor) Note(e *events.Event, prepared *Prepared) {
	s.crashPage.Load().note(e.Seq)
	if e.Sent != nil {
		s.sent.noteSent(e)
	}
	if e.Judged || s.queue.room(e.Seq, len(e.Data), e.Time) {
		s.noteLater(e, prepared)
	}
}

// noteLater queues an event.
func (s *acceptor) noteLater(e *events.Event, prepared *Prepared) {
	own := *e
	if prepared == nil {
		own.Data = bytes.Clone(e.Data)
	} else {
		own.Data = prepared.row.data
	}
	o := &op{number: own.Seq, size: opCost + len(own.Data), note: !e.Judged}
	o.exec = func(db *database) error {
		if prepared == nil { // here, since redaction takes a while
			prepared = s.prepare(&own, false)
		}
		row := prepared.row
		row.seq = own.Seq
		err := s.tables.insert(db, &own, row, nil)
		if refused(err) {
			s.queue.drop(own.Seq)
		}
		return err
	}
	s.queue.add(o)
}

func unique(hooks []string) []string {
	if len(hooks) == 1 {
		return []string{hooks[0]}
	}
	seen := make(map[string]bool, len(hooks))
	return slices.DeleteFunc(slices.Clone(hooks), func(h string) bool {
		again := seen[h]
		seen[h] = true
		return again
	})
}

// tables writes events and runs within a transaction.
type tables struct{ *core }

// insert writes an event and its pending runs.
func (s *tables) insert(db *database, e *events.Event, row eventRow, rows []pendingRow) error {
	added, err := insertEvent(db, row)
	if err != nil {
		return err
	}
	if err := s.insertPending(db, row, rows, added); err != nil {
		return err
	}
	s.saw(row.seq)
	if !added {
		return nil
	}
	s.w.state.events++
	return s.w.sessions.event(db, e)
}

// insertPending writes the pending rows of an event; added tells that the database did not have the event.
func (s *tables) insertPending(db *database, row eventRow, rows []pendingRow, added bool) error {
	if !added {
		if err := s.dropPending(db, row.seq, ""); err != nil {
			return err
		}
	}
	for ord, r := range rows {
		_, err := db.exec(`INSERT OR REPLACE INTO pending (seq, hook, ord, attempt, due) VALUES (?, ?, ?, ?, ?)`,
			int64(row.seq), r.hook, ord, r.attempt, r.due)
		if err != nil {
			return fmt.Errorf("insert pending run of %s: %w", r.hook, err)
		}
	}
	if len(rows) > 0 {
		s.w.state.waiting.add(amount{1, int64(len(rows)), int64(row.size)})
	}
	return nil
}

// dropPending deletes the pending run of a hook for an event, or all runs if hook is "".
func (s *tables) dropPending(db *database, seq uint64, hook string) error {
	n, err := db.exec(`DELETE FROM pending WHERE seq = ?1 AND (hook = ?2 OR ?2 = '')`, int64(seq), hook)
	if err != nil || n == 0 {
		return err
	}
	gone := amount{runs: n}
	var size int64
	row := db.row(`SELECT size FROM events WHERE seq = ?1 AND NOT EXISTS (SELECT 1 FROM pending WHERE seq = ?1)`,
		int64(seq))
	switch err := row.Scan(&size); {
	case err == nil:
		gone.events, gone.bytes = 1, size
	case !errors.Is(err, sql.ErrNoRows): // other runs of the event are left
		return err
	}
	s.w.state.waiting.sub(gone)
	return nil
}

// later queues exec, which is done in any case; size is that of the values it has.
func (s *core) later(size int, exec func(*database) error) {
	s.queue.add(&op{exec: exec, lean: exec, size: size})
}

// do runs exec in a transaction of the writer and returns when it is on disk.
func (s *core) do(ctx context.Context, exec func(*database) error) error {
	return s.wait(ctx, &op{exec: exec})
}

func (s *core) wait(ctx context.Context, o *op) error {
	done := make(chan error, 1)
	o.done = func(err error) { done <- err }
	if down := s.down.Load(); down != nil {
		return down.err
	}
	if !s.queue.add(o) {
		return ErrClosed
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		if s.queue.withdraw(o) {
			return ctx.Err()
		}
		return <-done // it is being written
	}
}

package store

import (
	"context"
	"fmt"
	"time"
)

// One step deletes at most this: about a millisecond of the writer's time, and
// up to eight where there is so much too much that more comes than goes.
const (
	pruneRows  = 50
	floodRows  = 400
	floodShare = 50       // of the excess: the part that a step deletes
	freePages  = 256      // given back to the file system
	spareBytes = 16 << 20 // of free pages that are kept for what comes
	deadAge    = 30 * 24 * time.Hour
	deadRows   = 10_000
)

// Prune brings history within the limits: runs and events beyond MaxRuns,
// older than MaxAge, or the oldest of all while the database is larger than
// MaxBytes; dead letters older than 30 days or beyond 10,000; ids that senders
// gave their events after 10 minutes; counts older than their keeping time. Pending
// events stay, and so do the events of dead letters. Prune works in small steps,
// between which others are written. The store calls it each minute.
func (s *maintenance) Prune(ctx context.Context) error {
	if err := s.mover.FlushEvents(ctx); err != nil {
		return fmt.Errorf("prune history: %w", err)
	}
	p := &pruning{store: s, limits: *s.limits.Load(), now: time.Now()}
	steps := []func(*database) (bool, error){
		p.dead, p.sent, p.spans, p.runs, p.events, p.decisions, p.sessions, p.audit, p.refusedOutgoing, p.places,
		p.oldest, p.texts, p.shrink,
	}
	for _, step := range steps {
		for more := true; more; {
			begin := time.Now()
			err := s.do(ctx, func(db *database) (err error) { more, err = step(db); return err })
			if err == nil && more {
				err = s.rest(ctx, time.Since(begin))
			}
			if err != nil {
				return fmt.Errorf("prune history: %w", err)
			}
		}
	}
	return nil
}

// rest leaves the writer to others for as long as a step took, and merges the
// log if need be: pruning may take long, and the log must not grow with it.
func (s *maintenance) rest(ctx context.Context, t time.Duration) error {
	timer := time.NewTimer(t)
	defer timer.Stop()
	for {
		select {
		case <-s.merging.full:
			s.merging.mergeLong(ctx)
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pruning is one pass over the history. Each of its steps deletes a little and
// tells whether there may be more.
type pruning struct {
	store  *maintenance
	limits Limits
	now    time.Time
	cursor int64 // events up to here were looked at
}

// rows is how many rows a step deletes of so many too many.
func rows(excess int64) int { return int(min(max(excess/floodShare, pruneRows), floodRows)) }

// oldRow is a row at the beginning of a table.
type oldRow struct {
	seq, at int64
	pinned  bool // something waits for it
}

func oldRows(db *database, text string, args ...any) ([]oldRow, error) {
	scan := func(row scanner) (r oldRow, err error) { return r, row.Scan(&r.seq, &r.at, &r.pinned) }
	return query(db, scan, text, args...)
}

// dead deletes dead letters. Their ids take the place of numbers.
func (p *pruning) dead(db *database) (more bool, err error) {
	rows, err := oldRows(db, `SELECT id, at, 0 FROM dead ORDER BY id LIMIT ?`, pruneRows)
	if err != nil {
		return false, err
	}
	for _, r := range rows {
		if p.store.w.state.dead <= deadRows && r.at >= nanos(p.now.Add(-deadAge)) {
			return false, nil
		}
		if err := p.store.dead.dropDead(db, r.seq); err != nil {
			return false, err
		}
	}
	return len(rows) == pruneRows, nil
}

// spans deletes the counts of hours and days that are not kept any longer.
func (p *pruning) spans(db *database) (more bool, err error) {
	for length, keep := range map[int64]time.Duration{hour: keepHours, day: keepDays} {
		n, err := db.exec(`DELETE FROM spans WHERE (length, start, by, name) IN
			(SELECT length, start, by, name FROM spans WHERE length = ? AND start < ? LIMIT ?)`,
			length, p.now.Add(-keep).Unix(), pruneRows)
		if err != nil {
			return false, err
		}
		more = more || n == pruneRows
	}
	return more, nil
}

// runs deletes runs by age and number.
func (p *pruning) runs(db *database) (more bool, err error) {
	excess, old := p.store.w.state.runs-p.limits.MaxRuns, nanos(p.now.Add(-p.limits.MaxAge))
	most := rows(excess)
	first, err := firstRuns(db, most)
	if err != nil {
		return false, err
	}
	n := 0
	for n < len(first) && (int64(n) < excess || first[n].at < old) {
		n++
	}
	return n == most, p.deleteRuns(db, first[:n])
}

func firstRuns(db *database, most int) ([]oldRow, error) {
	return oldRows(db, `SELECT seq, ended, 0 FROM runs ORDER BY seq LIMIT ?`, most)
}

func (p *pruning) deleteRuns(db *database, rows []oldRow) error {
	if len(rows) == 0 {
		return nil
	}
	last := rows[len(rows)-1].seq
	for _, text := range []string{`DELETE FROM runs WHERE seq <= ?`, `DELETE FROM outputs WHERE seq <= ?`} {
		if _, err := db.exec(text, last); err != nil {
			return err
		}
	}
	p.store.w.state.runs -= int64(len(rows))
	p.deleted(last)
	return nil
}

// events deletes events by age and number, except events that something waits for.
func (p *pruning) events(db *database) (more bool, err error) {
	most := rows(p.store.w.state.events - p.limits.MaxRuns)
	first, err := p.firstEvents(db, most)
	if err != nil {
		return false, err
	}
	old := nanos(p.now.Add(-p.limits.MaxAge))
	for _, r := range first {
		if p.store.w.state.events <= p.limits.MaxRuns && r.at >= old {
			return false, nil
		}
		if err := p.deleteEvent(db, r); err != nil {
			return false, err
		}
	}
	return len(first) == most, nil
}

// decisions deletes the decisions that are older than the first event: their own event was
// never kept. All others go with their event.
func (p *pruning) decisions(db *database) (more bool, err error) {
	n, err := p.lonelyRows(db, `event_seq < (SELECT min(seq) FROM events) OR at < ?`,
		nanos(p.now.Add(-p.limits.MaxAge)), pruneRows)
	return n == pruneRows, err
}

// lonely deletes decisions without an event that is kept, where there is nothing
// older to delete.
func (p *pruning) lonely(db *database, most int) (more bool, err error) {
	n, err := p.lonelyRows(db, `(SELECT count(*) FROM (SELECT 1 FROM events LIMIT 1)) = ?`, 0, most)
	return n > 0, err
}

func (p *pruning) lonelyRows(db *database, which string, arg any, most int) (n int, err error) {
	rows, err := oldRows(db, `SELECT seq, at, 0 FROM decisions WHERE `+which+` ORDER BY event_seq LIMIT ?`, arg, most)
	if err != nil {
		return 0, err
	}
	for _, r := range rows {
		if err := deleteDecisions(db, `seq = ?`, r.seq); err != nil {
			return 0, err
		}
		p.deleted(r.seq)
	}
	return len(rows), nil
}

// maxSessions are kept.
const maxSessions = 10_000

// sessions deletes sessions that are over for long, and the oldest of too many.
func (p *pruning) sessions(db *database) (more bool, err error) {
	n, err := db.exec(`DELETE FROM sessions WHERE (session_id, dialect) IN (SELECT session_id, dialect FROM sessions
		WHERE last < max(?, ifnull((SELECT last FROM sessions ORDER BY last DESC LIMIT 1 OFFSET ?), 0))
		ORDER BY last LIMIT ?)`,
		nanos(p.now.Add(-p.limits.MaxAge)), maxSessions-1, pruneRows)
	if n > 0 {
		p.store.w.sessions.forget()
	}
	return n == pruneRows, err
}

// firstEvents returns the first events that were not looked at, as far as no crash brings them
// back from the journal.
func (p *pruning) firstEvents(db *database, most int) ([]oldRow, error) {
	return oldRows(db, `SELECT seq, at, EXISTS (SELECT 1 FROM pending WHERE seq = e.seq)
			OR EXISTS (SELECT 1 FROM dead WHERE seq = e.seq)
		FROM events e WHERE seq > ? AND seq < ? ORDER BY seq LIMIT ?`,
		p.cursor, int64(p.store.journaled.floor()), most)
}

func (p *pruning) deleteEvent(db *database, r oldRow) error {
	p.cursor = r.seq
	if r.pinned {
		return nil
	}
	p.deleted(r.seq)
	return p.store.tables.deleteEvent(db, uint64(r.seq))
}

// oldest deletes the first rows, of either table, while there is too much of
// all.
func (p *pruning) oldest(db *database) (more bool, err error) {
	var used int64
	if err := db.row(usedBytes).Scan(&used); err != nil || used <= p.limits.MaxBytes {
		return false, err
	}
	most := rows((used - p.limits.MaxBytes) / opCost)
	if more, err := p.lonely(db, most); more || err != nil {
		return more, err
	}
	runs, err := firstRuns(db, most)
	if err != nil {
		return false, err
	}
	accepted, err := p.firstEvents(db, most)
	if err != nil {
		return false, err
	}
	if len(accepted) == 0 || len(runs) > 0 && runs[0].seq < accepted[0].seq {
		return len(runs) > 0, p.deleteRuns(db, runs)
	}
	for _, r := range accepted {
		if len(runs) > 0 && runs[0].seq < r.seq {
			break
		}
		if err := p.deleteEvent(db, r); err != nil {
			return false, err
		}
	}
	return true, nil
}

// deleted notes up to where the history has holes.
func (p *pruning) deleted(seq int64) {
	st := &p.store.w.state
	st.pruned = max(st.pruned, uint64(seq))
	st.urgent = true
}

// shrink gives free pages back, when they are many.
func (p *pruning) shrink(db *database) (more bool, err error) {
	var free, all, size int64
	row := db.row(`SELECT freelist_count, page_count, page_size
		FROM pragma_freelist_count, pragma_page_count, pragma_page_size`)
	if err = row.Scan(&free, &all, &size); err != nil || free*size < spareBytes || free < all/4 {
		return false, err
	}
	scan := func(row scanner) (none struct{}, err error) { return none, row.Scan() }
	_, err = query(db, scan, fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, freePages))
	return true, err
}

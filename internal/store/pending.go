package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/hookd/hookd/internal/events"
)

// pendingBytes is where a page of pending events ends early.
const pendingBytes = 32 << 20

const pendingColumns = `seq, id, at, name, size, detail, kept, data FROM events`

// Pending returns what was accepted and has not ended, in the order of the
// events' numbers and, for one event, of registration: all runs of the first
// events above after, limit at most, fewer when they are large. Nothing comes
// back when there are no more; the last event's number is the next after.
func (s *Store) Pending(ctx context.Context, after uint64, limit int) (all []Pending, err error) {
	err = s.read(ctx, func(db *sql.DB) error {
		waiting, err := list(ctx, db, scanPendingEvent, `SELECT `+pendingColumns+`
			WHERE seq IN (SELECT DISTINCT seq FROM pending WHERE seq > ? ORDER BY seq LIMIT ?) ORDER BY seq`, int64(min(after, 1<<62)), limit)
		if err != nil {
			return err
		}
		attempts, err := readBegun(db.QueryRowContext(ctx, selectBegun))
		if err != nil {
			return err
		}
		size := 0
		for _, e := range waiting {
			runs, err := pendingOf(ctx, db, e, attempts)
			if err != nil {
				return err
			}
			s.live.hold(e, heldBytes)
			all = append(all, runs...)
			if size += len(e.Data); size > pendingBytes {
				break
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read what is pending: %w", err)
	}
	return all, nil
}

func scanPendingEvent(row scanner) (*events.Event, error) {
	var r eventRow
	if err := row.Scan(&r.seq, &r.id, &r.at, &r.name, &r.size, &r.detail, &r.kept, &r.data); err != nil {
		return nil, err
	}
	if r.kept != keptAll {
		return nil, fmt.Errorf("read event %s: %w: its data is missing", r.id, errCorrupt)
	}
	return r.decode(r.data)
}

// pendingOf returns the pending runs of e, with the attempts at them that have begun.
func pendingOf(ctx context.Context, db *sql.DB, e *events.Event, begun map[Key]attempt) ([]Pending, error) {
	return list(ctx, db, func(row scanner) (Pending, error) {
		p := Pending{Event: e}
		var due int64
		err := row.Scan(&p.Hook, &p.Attempt, &due)
		a := begun[p.Key()]
		p.Due, p.RunID, p.Started = moment(due), a.RunID, moment(a.Started)
		return p, err
	}, `SELECT hook, attempt, due FROM pending WHERE seq = ? ORDER BY ord`, int64(e.Seq))
}

// rescue reads what is pending on disk only, as long as there is memory, from
// a file that was deleted but is still open.
func (s *Store) rescue() {
	for _, seq := range s.live.onDisk() {
		e, err := scanPendingEvent(s.db.row(`SELECT `+pendingColumns+` WHERE seq = ?`, int64(seq)))
		if err != nil {
			continue // it counts as lost
		}
		s.live.hold(e, 4*heldBytes)
	}
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/hookd/hookd/internal/events"
)

// pendingBytes is where a page of pending events ends: an event that is larger
// is a page of its own.
const pendingBytes = 1 << 20

const pendingColumns = `seq, id, at, name, size, detail, kept, data, more FROM events`

// Pending returns what was accepted and has not ended, in the order of the
// events' numbers and, for one event, of registration: all runs of the first
// events above after, limit at most, fewer when they are large. Nothing comes
// back when there are no more; the last event's number is the next after.
func (s *Store) Pending(ctx context.Context, after uint64, limit int) (all []events.Pending, err error) {
	err = s.snapshot(ctx, func(db querier) error {
		sizes, err := list(ctx, db, scanSized, `SELECT seq, size FROM events
			WHERE seq IN (SELECT DISTINCT seq FROM pending WHERE seq > ? ORDER BY seq LIMIT ?) ORDER BY seq`,
			int64(min(after, 1<<62)), limit)
		if err != nil {
			return err
		}
		waiting, err := s.pendingEvents(ctx, db, sizes[:fit(sizes, pendingBytes)])
		if err != nil {
			return err
		}
		attempts, err := readBegun(db.QueryRowContext(ctx, selectBegun))
		if err != nil {
			return err
		}
		for _, e := range waiting {
			runs, err := pendingOf(ctx, db, e, attempts)
			if err != nil {
				return err
			}
			s.live.hold(e, s.live.most)
			all = append(all, runs...)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read what is pending: %w", err)
	}
	return all, nil
}

// NextPending returns how large the data of the first pending event above after
// is; 0 = there is none.
func (s *Store) NextPending(ctx context.Context, after uint64) (size int64, err error) {
	err = s.read(ctx, func(db *sql.DB) error {
		row := db.QueryRowContext(ctx, `SELECT size FROM events
			WHERE seq = (SELECT min(seq) FROM pending WHERE seq > ?)`, int64(min(after, 1<<62)))
		err := row.Scan(&size)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("read what is pending: %w", err)
	}
	return size, nil
}

// pendingEvents reads events, except for a large one that memory has.
func (s *Store) pendingEvents(ctx context.Context, db querier, sizes []sized) ([]*events.Event, error) {
	if len(sizes) == 0 {
		return nil, nil
	}
	first, last := sizes[0].seq, sizes[len(sizes)-1].seq
	if first == last {
		if e := s.live.event(first); e != nil {
			return []*events.Event{e}, nil
		}
	}
	rows, err := list(ctx, db, scanPendingRow, `SELECT `+pendingColumns+`
		WHERE seq IN (SELECT DISTINCT seq FROM pending WHERE seq BETWEEN ? AND ?) ORDER BY seq`,
		int64(first), int64(last))
	if err != nil {
		return nil, err
	}
	all := make([]*events.Event, len(rows))
	for i, r := range rows {
		if all[i], err = r.pendingEvent(ctx, db); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// dataOf takes the bytes that the driver has made for it, which database/sql would
// copy.
type dataOf []byte

func (b *dataOf) Scan(v any) error {
	data, ok := v.([]byte)
	if !ok && v != nil {
		return fmt.Errorf("read data: it is a %T", v)
	}
	*b = data
	return nil
}

func scanPendingRow(row scanner) (r eventRow, err error) {
	return r, row.Scan(&r.seq, &r.id, &r.at, &r.name, &r.size, &r.detail, &r.kept, (*dataOf)(&r.data), &r.more)
}

// pendingEvent makes the event of a row that has all of its data.
func (r eventRow) pendingEvent(ctx context.Context, db querier) (*events.Event, error) {
	if r.kept != keptAll {
		return nil, fmt.Errorf("read event %s: %w: its data is missing", r.id, errCorrupt)
	}
	data, err := join(ctx, db, r.seq, false, r.data, r.more)
	if err != nil {
		return nil, err
	}
	return r.decode(data)
}

// pendingEvent reads one event with all of its data.
func pendingEvent(ctx context.Context, db querier, seq uint64) (*events.Event, error) {
	r, err := scanPendingRow(db.QueryRowContext(ctx, `SELECT `+pendingColumns+` WHERE seq = ?`, int64(seq)))
	if err != nil {
		return nil, err
	}
	return r.pendingEvent(ctx, db)
}

// pendingOf returns the pending runs of e, with the attempts at them that have begun.
func pendingOf(
	ctx context.Context,
	db querier,
	e *events.Event,
	begun map[events.PendingKey]attempt,
) ([]events.Pending, error) {
	return list(ctx, db, func(row scanner) (events.Pending, error) {
		p := events.Pending{Event: e}
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
		e, err := pendingEvent(context.Background(), s.db.conn, seq)
		if err != nil {
			continue // it counts as lost
		}
		s.live.hold(e, 4*s.live.most)
	}
}

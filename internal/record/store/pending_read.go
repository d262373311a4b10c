package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// pendingBytes is where a page of pending events ends: an event that is larger
// is a page of its own.
const pendingBytes = 1 << 20

// A row whose number was damaged is found in the place of another event, and is none: the index of ids knows better.
const pendingColumns = `seq, id, at, name, size, detail, kept, data, more, sum FROM events e
	WHERE ifnull((SELECT seq FROM events WHERE id = e.id), seq) = seq`

// pendings reads the accepted runs that have not ended.
type pendings struct {
	*core
	runs *pendingRuns
	loss *lossNotes
}

// Pending returns the accepted runs that have not ended. They are in the order of the events'
// numbers and, for one event, of registration: all runs of the first events above after, limit at
// most, fewer when they are large. Nothing comes back when there are no more; the last event's
// number is the next after.
func (s *pendings) Pending(ctx context.Context, after uint64, limit int) ([]events.Pending, error) {
	if err := s.awaitCheck(ctx); err != nil {
		return nil, fmt.Errorf("read what is pending: %w", err)
	}
	for {
		page, last, err := s.pendingPage(ctx, after, limit)
		switch {
		case errors.Is(err, errMoved): // the next page has it
		case err != nil:
			return nil, fmt.Errorf("read what is pending: %w", err)
		case len(page) > 0 || last == 0:
			return page, nil
		default:
			after = last
		}
	}
}

// errMoved is the error of an event that the journal does not have any more: the writer has
// moved it into the database since a page looked there, and freed its segment.
var errMoved = errors.New("it is in the database now")

// pendingPage is Pending, except that a page may be empty when its runs have ended while
// it was read. It returns the number of its last event, 0 where there was none.
func (s *pendings) pendingPage(
	ctx context.Context, after uint64, limit int,
) (all []events.Pending, last uint64, err error) {
	// First: an event that goes into the database meanwhile is found twice, not never.
	only := s.journaled.after(after, limit, s.pending.has)
	s.pending.watch()
	defer s.pending.unwatch()
	err = s.readTx(ctx, func(db querier) (err error) {
		defer func() { err = damagedRow(err) }()
		// By the pending runs, not by the events: a row that a damaged file hides must be missed.
		sizes, err := list(ctx, db, scanSized, `SELECT seq, ifnull((SELECT size FROM events WHERE seq = p.seq), 0)
			FROM (SELECT DISTINCT seq FROM pending WHERE seq > ? ORDER BY seq LIMIT ?) p ORDER BY seq`,
			int64(min(after, 1<<62)), limit)
		if err != nil {
			return err
		}
		sizes, only, last = page(sizes, only, limit)
		waiting, err := s.pendingEvents(ctx, db, sizes)
		if err != nil {
			return err
		}
		attempts, err := readAttempts(db.QueryRowContext(ctx, selectAttempts))
		if err != nil {
			return err
		}
		for _, e := range waiting {
			runs, err := pendingOf(ctx, db, e, attempts)
			if err != nil {
				return err
			}
			s.pending.holdRead(e, rowsOf(runs), s.pending.most)
			all = append(all, runs...)
		}
		for _, e := range only {
			runs, err := s.pendingOnly(e, attempts)
			if err != nil {
				return err
			}
			all = append(all, runs...)
		}
		slices.SortStableFunc(all, func(a, b events.Pending) int { return cmp.Compare(a.Event.Seq, b.Event.Seq) })
		return nil
	})
	return all, last, err
}

// page returns the events of a page: the events in the database, and the events that only the
// journal has, each in order; and the number of the last event, 0 where there is none.
func page(stored []sized, only []*entry, limit int) (_ []sized, _ []*entry, last uint64) {
	both := slices.Clone(stored)
	for _, e := range only {
		both = append(both, sized{e.Number, int(e.Body)})
	}
	slices.SortStableFunc(both, func(a, b sized) int { return cmp.Compare(a.seq, b.seq) })
	both = slices.CompactFunc(both, func(a, b sized) bool { return a.seq == b.seq })
	both = both[:min(limit, len(both))]
	n := fit(both, pendingBytes)
	if n == 0 {
		return nil, nil, 0
	}
	last = both[n-1].seq
	for len(stored) > 0 && stored[len(stored)-1].seq > last {
		stored = stored[:len(stored)-1]
	}
	has := map[uint64]bool{}
	for _, z := range stored {
		has[z.seq] = true
	}
	return stored, slices.DeleteFunc(only, func(e *entry) bool { return e.Number > last || has[e.Number] }), last
}

// pendingOnly returns the pending runs of an event that only the journal has.
func (s *pendings) pendingOnly(e *entry, under map[events.PendingKey]attempt) (all []events.Pending, err error) {
	rows, event := s.pending.rows(e.Number)
	switch {
	case len(rows) == 0 && s.journaled.moved(e):
		return nil, errMoved
	case len(rows) == 0:
		return nil, nil // it has ended meanwhile
	}
	if event == nil {
		a, err := s.journaled.read(e, true)
		switch {
		case err != nil && s.journaled.moved(e):
			return nil, errMoved
		case err != nil:
			return nil, s.unreadable(e, err)
		}
		if event, err = a.row.decode(a.row.data); err != nil {
			return nil, err
		}
		s.pending.holdRead(event, nil, s.pending.most)
	}
	for _, r := range rows {
		p := events.Pending{Event: event, Hook: r.hook, Attempt: r.attempt, Due: moment(r.due)}
		a := under[p.Key()]
		p.RunID, p.Started = a.RunID, moment(a.Started)
		all = append(all, p)
	}
	return all, nil
}

// unreadable makes the error of an event that the journal does not give. The writer, which
// moves the event, finds out whether it is lost.
func (s *pendings) unreadable(e *entry, err error) error {
	s.queue.add(&op{event: e.Number, exec: nothing, lean: nothing})
	return err
}

// NextPending returns how large the data of the first pending event above after
// is; 0 = there is none.
func (s *pendings) NextPending(ctx context.Context, after uint64) (size int64, err error) {
	if err := s.awaitCheck(ctx); err != nil {
		return 0, fmt.Errorf("read what is pending: %w", err)
	}
	only := s.journaled.after(after, 1, s.pending.has)
	err = s.read(func(db *sql.DB) (err error) {
		defer func() { err = damagedRow(err) }()
		var first uint64
		row := db.QueryRowContext(ctx, `SELECT seq, ifnull((SELECT size FROM events WHERE seq = p.seq), 1)
			FROM pending p WHERE seq > ? ORDER BY seq LIMIT 1`, int64(min(after, 1<<62)))
		err = row.Scan(&first, &size)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		if len(only) > 0 && (first == 0 || only[0].Number < first) {
			size = int64(only[0].Body)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("read what is pending: %w", err)
	}
	return size, nil
}

// pendingEvents reads events, except for a large event that memory has.
func (s *pendings) pendingEvents(ctx context.Context, db querier, sizes []sized) ([]*events.Event, error) {
	if len(sizes) == 0 {
		return nil, nil
	}
	first, last := sizes[0].seq, sizes[len(sizes)-1].seq
	if first == last {
		if e := s.pending.event(first); e != nil {
			return []*events.Event{e}, nil
		}
	}
	rows, err := list(ctx, db, scanPendingRow, `SELECT `+pendingColumns+`
		AND seq IN (SELECT DISTINCT seq FROM pending WHERE seq BETWEEN ? AND ?) ORDER BY seq`, int64(first), int64(last))
	if err != nil {
		return nil, err
	}
	if !slices.EqualFunc(rows, sizes, func(r eventRow, z sized) bool { return r.seq == z.seq }) {
		return nil, fmt.Errorf("%w: events from %d to %d are not there, but their runs are", errCorrupt, first, last)
	}
	all := make([]*events.Event, 0, len(rows))
	for _, r := range rows {
		e, err := r.pendingEvent(ctx, db)
		if errors.Is(err, errDamagedEvent) {
			hooks, listErr := list(ctx, db, scanID, `SELECT hook FROM pending WHERE seq = ? ORDER BY ord`, int64(r.seq))
			if listErr != nil {
				return nil, listErr
			}
			s.giveUpDamaged(r.seq, hooks, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, e)
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
	return r, row.Scan(&r.seq, &r.id, &r.at, &r.name, &r.size, &r.detail, &r.kept, (*dataOf)(&r.data), &r.more, &r.sum)
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
	if r.sum.Valid && r.sum.Int64 != r.sumOf(data) {
		return nil, fmt.Errorf("read event %s: %w", r.id, errDamagedEvent)
	}
	return r.decode(data)
}

// errDamagedEvent is the error of an event that differs from the event written.
var errDamagedEvent = errors.New("its data was damaged on the disk")

// giveUpDamaged ends the runs of an event that differs from the event written, as dead letters.
func (s *pendings) giveUpDamaged(seq uint64, hooks []string, cause error) {
	for _, hook := range hooks {
		s.runs.GiveUp(events.PendingKey{Seq: seq, Hook: hook}, &wire.Run{}, errDamagedEvent.Error())
	}
	s.queue.add(&op{exec: nothing, lean: nothing, after: func() {
		kept, _ := s.pending.count()
		s.loss.report(Incident{
			Kind: IncidentJournal, Err: fmt.Errorf("event %d: %w", seq, cause), Path: s.opts.Path,
			Kept: kept, Lost: len(hooks),
		})
	}})
}

// pendingEvent reads one event with all of its data.
func pendingEvent(ctx context.Context, db querier, seq uint64) (*events.Event, error) {
	r, err := scanPendingRow(db.QueryRowContext(ctx, `SELECT `+pendingColumns+` AND seq = ?`, int64(seq)))
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
	under map[events.PendingKey]attempt,
) ([]events.Pending, error) {
	return list(ctx, db, func(row scanner) (events.Pending, error) {
		p := events.Pending{Event: e}
		var due int64
		err := row.Scan(&p.Hook, &p.Attempt, &due)
		a := under[p.Key()]
		p.Due, p.RunID, p.Started = moment(due), a.RunID, moment(a.Started)
		return p, err
	}, `SELECT hook, attempt, due FROM pending WHERE seq = ? ORDER BY ord`, int64(e.Seq))
}

// rowsOf returns the rows of the pending runs of one event.
func rowsOf(runs []events.Pending) []pendingRow {
	rows := make([]pendingRow, len(runs))
	for i, r := range runs {
		rows[i] = pendingRow{r.Hook, r.Attempt, nanos(r.Due)}
	}
	return rows
}

// rescued is how many times Options.Held is held of a file that was deleted.
const rescued = 8

// rescue reads the events pending on disk only, as long as there is memory. The file was deleted
// but is still open.
func (s *pendings) rescue() {
	list, err := query(s.db, scanSeq, `SELECT DISTINCT seq FROM pending ORDER BY seq`)
	if err != nil {
		return // all of them count as lost
	}
	for _, seq := range list {
		if s.pending.has(seq) {
			continue
		}
		e, err := pendingEvent(context.Background(), s.db.conn, seq)
		var runs []events.Pending
		if err == nil {
			runs, err = pendingOf(context.Background(), s.db.conn, e, nil)
		}
		if err != nil {
			continue // it counts as lost
		}
		if !s.pending.holdRead(e, rowsOf(runs), rescued*s.pending.most) {
			return // there is no more room
		}
	}
}

package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// read calls f with connections that see everything committed.
func (s *core) read(f func(*sql.DB) error) error {
	s.handles.RLock()
	defer s.handles.RUnlock()
	if s.db == nil || s.replacing.Load() { // a new file has not all yet that was saved of the old one
		if o := s.down.Load(); o != nil {
			return o.err
		}
		select {
		case <-s.ended:
			return ErrClosed
		default:
			return errReplaced
		}
	}
	err := f(s.db.reading)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	if err = classify(err); errors.Is(err, errCorrupt) {
		s.reportCorrupt(err)
	}
	return err
}

// readTx is read with all queries seeing the same moment.
func (s *core) readTx(ctx context.Context, f func(querier) error) error {
	return s.read(func(db *sql.DB) error {
		tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		defer tx.Rollback() // it has nothing to commit
		return f(tx)
	})
}

// list reads all rows of a query.
func list[T any](
	ctx context.Context, db querier, scan func(scanner) (T, error), text string, args ...any,
) ([]T, error) {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	return collect(rows, scan)
}

// Run returns the run with this id, or the only one whose id begins or ends so, with
// its output. Letters may be small. It fails with ErrNotFound or ErrAmbiguous.
func (s *archive) Run(ctx context.Context, id string) (run wire.Run, err error) {
	err = s.read(func(db *sql.DB) error {
		full, err := wholeID(ctx, db, "runs", id)
		if err != nil {
			return err
		}
		rows, err := list(ctx, db, func(row scanner) (wire.Run, error) { return scanRun(row, true) },
			`SELECT `+runColumns+outputColumns+` FROM runs r`+joinOutputs+`
				WHERE r.id = ? ORDER BY r.seq DESC LIMIT 1`, full)
		if err == nil && len(rows) == 0 {
			err = ErrNotFound // pruned a moment ago
		}
		if err == nil {
			run = rows[0]
		}
		return err
	})
	if err != nil {
		return run, fmt.Errorf("run %s: %w", id, err)
	}
	return run, nil
}

// wholeID finds the only id of a table that begins with part, else the only one of
// the newest that ends with it.
func wholeID(ctx context.Context, db querier, table, part string) (string, error) {
	part = strings.ToUpper(part)
	if part == "" {
		return "", ErrNotFound
	}
	ids, err := list(ctx, db, scanID,
		`SELECT DISTINCT id FROM `+table+` WHERE id >= ? AND id < ? ORDER BY id LIMIT 2`, part, part+"\x7f")
	if err == nil && len(ids) == 0 && len(part) >= shortestEnd {
		ids, err = list(ctx, db, scanID, `SELECT DISTINCT id FROM
			(SELECT id FROM `+table+` ORDER BY seq DESC LIMIT ?) WHERE substr(id, -?) = ? LIMIT 2`,
			newestIDs, len(part), part)
	}
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		return "", ErrNotFound
	case len(ids) == 2 && ids[0] != part:
		return "", ErrAmbiguous
	}
	return ids[0], nil
}

// The end of an id is looked for among so many of the newest, and has so many
// characters at least.
const (
	newestIDs   = 100_000
	shortestEnd = 3
)

func scanID(row scanner) (id string, err error) { return id, row.Scan(&id) }

// StoredEvent is an event as history keeps it.
type StoredEvent struct {
	*events.Event        // Data is nil unless Whole
	Size          int    // bytes of data as sent
	Whole         bool   // Data is all of it, so that the event can be replayed
	Preview       string // how the data begins; "" when Whole, or where the limits keep nothing
	Redacted      bool   // secrets were taken out of Data or Preview
}

const historyColumns = `seq, id, at, name, size, detail, redacted, ` +
	historyKept + `, ` + historyData + `, ` + historyMore + `, later_data IS NOT NULL FROM events`

func scanHistoryRow(row scanner) (r eventRow, err error) {
	return r, row.Scan(&r.seq, &r.id, &r.at, &r.name, &r.size, &r.detail, &r.redacted,
		&r.kept, (*dataOf)(&r.data), &r.more, &r.fromLater)
}

// historyEvent makes the event of a row as history keeps it.
func (r eventRow) historyEvent(ctx context.Context, db querier) (v StoredEvent, err error) {
	v = StoredEvent{Size: r.size, Redacted: r.redacted, Whole: r.kept == keptAll}
	var data []byte
	if v.Whole {
		data, err = join(ctx, db, r.seq, r.fromLater, r.data, r.more)
	} else {
		v.Preview = string(whole(r.data))
	}
	if err == nil {
		v.Event, err = r.decode(data)
	}
	return v, err
}

// historyEvent reads one event as history keeps it.
func historyEvent(ctx context.Context, db querier, where string, args ...any) (StoredEvent, error) {
	r, err := scanHistoryRow(db.QueryRowContext(ctx, `SELECT `+historyColumns+` `+where, args...))
	if err != nil {
		return StoredEvent{}, err
	}
	return r.historyEvent(ctx, db)
}

// Event returns the event with this id, or the only one whose id begins so.
func (s *archive) Event(ctx context.Context, id string) (e StoredEvent, err error) {
	err = s.readTx(ctx, func(db querier) error {
		full, err := wholeID(ctx, db, "events", id)
		if err != nil {
			return err
		}
		e, err = historyEvent(ctx, db, `WHERE id = ?`, full)
		return err
	})
	if err != nil {
		return e, fmt.Errorf("event %s: %w", id, err)
	}
	return e, nil
}

// Last returns the newest event of a dialect that is no replay and not of the
// session except; ErrNotFound where there is none. It may read all events.
func (s *archive) Last(ctx context.Context, d events.Dialect, except string) (e StoredEvent, err error) {
	err = s.readTx(ctx, func(db querier) error {
		e, err = historyEvent(ctx, db, `WHERE CAST(detail AS TEXT) ->> 'dialect' = ?
			AND CAST(detail AS TEXT) ->> 'session_id' IS NOT ?
			AND CAST(detail AS TEXT) ->> 'tried' IS NULL
			AND CAST(detail AS TEXT) ->> 'replay_of' IS NULL ORDER BY seq DESC LIMIT 1`, string(d), except)
		return err
	})
	if err != nil {
		return e, fmt.Errorf("last event of %s: %w", d, err)
	}
	return e, nil
}

// Record is one record of the stream: an event, a run or a decision.
type Record struct {
	Seq      uint64
	Event    *StoredEvent
	Run      *wire.Run // without its output
	Decision *wire.Decision
}

// Feed is a stretch of the stream.
type Feed struct {
	Records []Record // in the order of their numbers
	Missing []Range  // numbers that were given to records which are not there, in order
	Through uint64   // the stretch ends with this number
}

// Range is a stretch of numbers, both ends included.
type Range struct{ First, Last uint64 }

// Since returns the first records with numbers above after and up to upto,
// limit at most, and fewer when they take more than maxBytes: one record at
// least. A number that was given and that no record has is missing: it was
// pruned, left out, or lost with the process. A caller that wants the records it handed over a
// moment ago calls Flush first.
func (s *archive) Since(ctx context.Context, after, upto uint64, limit, maxBytes int) (feed Feed, err error) {
	err = s.readTx(ctx, func(db querier) error {
		var pruned uint64
		if err := db.QueryRowContext(ctx, `SELECT pruned FROM state`).Scan(&pruned); err != nil {
			return err
		}
		from, to := min(max(after, pruned), upto), min(upto, 1<<62)
		sizes, err := list(ctx, db, scanSized, `SELECT seq, length(detail) + CASE `+historyKept+`
				WHEN 2 THEN coalesce(length(later_data) + later_more, length(data) + more, 0) ELSE 2048 END
			FROM events WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?`, int64(from), int64(to), limit)
		if err != nil {
			return err
		}
		if n := fit(sizes, maxBytes); n < len(sizes) {
			to = sizes[n].seq - 1
		} else if n == limit {
			to = sizes[n-1].seq
		}
		rows, err := list(ctx, db, scanHistoryRow,
			`SELECT `+historyColumns+` WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?`,
			int64(from), int64(to), limit)
		if err != nil {
			return err
		}
		accepted := make([]StoredEvent, len(rows))
		for i, r := range rows {
			if accepted[i], err = r.historyEvent(ctx, db); err != nil {
				return err
			}
		}
		runs, err := list(ctx, db, func(row scanner) (wire.Run, error) { return scanRun(row, false) },
			`SELECT `+runColumns+` FROM runs r WHERE r.seq > ? AND r.seq <= ? ORDER BY r.seq LIMIT ?`,
			int64(from), int64(to), limit)
		if err != nil {
			return err
		}
		decisions, err := list(ctx, db, scanDecision,
			`SELECT `+decisionColumns+` FROM decisions d WHERE d.seq > ? AND d.seq <= ? ORDER BY d.seq LIMIT ?`,
			int64(from), int64(to), limit)
		if err != nil {
			return err
		}
		if feed.Records = merge(accepted, runs, decisions, limit); len(feed.Records) == limit {
			to = feed.Records[limit-1].Seq
		}
		unused, err := list(ctx, db, func(row scanner) (r Range, err error) { return r, row.Scan(&r.First, &r.Last) },
			`SELECT first, last FROM unused WHERE last > ? AND first <= ? ORDER BY first`, int64(from), int64(to))
		feed.Missing, feed.Through = missing(after, to, pruned, feed.Records, unused), to
		return err
	})
	if err != nil {
		return feed, fmt.Errorf("read the stream from %d: %w", after, err)
	}
	return feed, nil
}

// sized is the number of an event and how much it takes in memory.
type sized struct {
	seq  uint64
	size int
}

func scanSized(row scanner) (z sized, err error) { return z, row.Scan(&z.seq, &z.size) }

// fit returns how many of the first events take no more than maxBytes together,
// one at least.
func fit(list []sized, maxBytes int) (n int) {
	for sum := 0; n < len(list); n++ {
		if sum += list[n].size; sum > maxBytes && n > 0 {
			break
		}
	}
	return n
}

// missing returns the numbers above after and up to to that are neither those of
// records nor unused; nothing up to pruned was read.
func missing(after, to, pruned uint64, records []Record, unused []Range) (list []Range) {
	next := after + 1
	have := func(r Range) {
		if r.First > next {
			list = append(list, Range{next, r.First - 1})
		}
		next = max(next, r.Last+1)
	}
	if pruned > after {
		list, next = append(list, Range{next, min(pruned, to)}), min(pruned, to)+1
	}
	for _, r := range records {
		for len(unused) > 0 && unused[0].First < r.Seq {
			have(unused[0])
			unused = unused[1:]
		}
		have(Range{r.Seq, r.Seq})
	}
	for _, r := range unused {
		have(r)
	}
	if next <= to {
		list = append(list, Range{next, to})
	}
	return list
}

// merge puts three lists into one order, and keeps the first limit.
func merge(accepted []StoredEvent, runs []wire.Run, decisions []wire.Decision, limit int) []Record {
	all := make([]Record, 0, len(accepted)+len(runs)+len(decisions))
	for i := range accepted {
		all = append(all, Record{Seq: accepted[i].Seq, Event: &accepted[i]})
	}
	for i := range runs {
		all = append(all, Record{Seq: runs[i].Seq, Run: &runs[i]})
	}
	for i := range decisions {
		all = append(all, Record{Seq: decisions[i].Seq, Decision: &decisions[i]})
	}
	slices.SortFunc(all, func(a, b Record) int { return cmp.Compare(a.Seq, b.Seq) })
	return all[:min(limit, len(all))]
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/hookd/hookd/wire"
)

// eventQuery selects events.
type eventQuery struct {
	wire.EventQuery
	names []string // any of them; none = all
	wait  bool     // only those whose senders waited
}

// EventPage is a part of an answer, newest first; Next as in Page. The events
// have no data.
type EventPage struct {
	Events []StoredEvent
	Next   uint64
}

// Events returns a page of accepted events. They are read in the order of their
// numbers: those of one session among the events between its first and its last.
func (s *archive) Events(ctx context.Context, q wire.EventQuery) (page EventPage, err error) {
	page.Events, page.Next, err = pageOf(ctx, s, eventQuery{EventQuery: q}, acceptedColumns, scanAccepted,
		func(e StoredEvent) uint64 { return e.Seq })
	return page, err
}

// pageOf returns some columns of a page of events, and where the next page begins. seq
// returns an event's number.
func pageOf[T any](
	ctx context.Context, s *archive, q eventQuery, columns string, scan func(scanner) (T, error), seq func(T) uint64,
) (found []T, next uint64, err error) {
	if q.Limit <= 0 {
		q.Limit = 50
	}
	err = s.read(func(db *sql.DB) error {
		low, high, err := q.bounds(ctx, db)
		if err != nil {
			return err
		}
		w := walk[T]{limit: q.Limit, low: low, high: high, seq: seq}
		w.between = func(from, to int64, limit int) ([]T, error) {
			text, args := q.sql(columns, from, to, limit)
			return list(ctx, db, scan, text, args...)
		}
		found, next, err = w.down()
		return err
	})
	if err != nil {
		return found, next, fmt.Errorf("query events: %w", err)
	}
	return found, next, nil
}

// bounds returns the numbers, low ≤ seq < high, among which the events must be; as
// bounds of runs.
func (q eventQuery) bounds(ctx context.Context, db *sql.DB) (low, high int64, err error) {
	var first, last sql.NullInt64
	row := db.QueryRowContext(ctx, `SELECT (SELECT min(seq) FROM events), (SELECT max(seq) FROM events)`)
	if err := row.Scan(&first, &last); err != nil || !last.Valid {
		return 0, 0, err
	}
	low, high = first.Int64, last.Int64+1
	if q.Session != "" {
		var begin, end sql.NullInt64
		err := db.QueryRowContext(ctx, `SELECT min(first), max(last) FROM sessions WHERE session_id = ?`, q.Session).
			Scan(&begin, &end)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, 0, err
		}
		if begin.Valid {
			if t := moment(begin.Int64); t.After(q.Since) {
				q.Since = t
			}
			if t := moment(end.Int64).Add(time.Nanosecond); q.Until.IsZero() || t.Before(q.Until) {
				q.Until = t
			}
		}
	}
	const text = `SELECT seq, at FROM events WHERE seq >= ? ORDER BY seq LIMIT 1`
	if !q.Since.IsZero() {
		if low, err = firstSince(ctx, db, text, low, high, q.Since.Add(-clockSlack)); err != nil {
			return 0, 0, err
		}
	}
	if !q.Until.IsZero() {
		if high, err = firstSince(ctx, db, text, low, high, q.Until.Add(clockSlack)); err != nil {
			return 0, 0, err
		}
	}
	if q.Before > 0 {
		high = min(high, int64(min(q.Before, 1<<62)))
	}
	return low, high, nil
}

func (q eventQuery) sql(columns string, from, to int64, limit int) (text string, args []any) {
	c := conditions{}
	c.add("seq >= ?", from)
	c.add("seq < ?", to)
	member := func(name string) string { return `CAST(detail AS TEXT) ->> '` + name + `'` }
	is := func(what, value string) {
		if value != "" {
			c.add(what+" = ?", value)
		}
	}
	is("name", q.Event)
	c.in(q.names, "name")
	if q.wait {
		c.add(member("wait"))
	}
	is(member("session_id"), q.Session)
	is(member("tool"), q.Tool)
	if q.Agent != "" {
		c.in([]string{q.Agent}, member("agent_id"), member("agent_name"), member("dialect"))
	}
	c.folders(member("cwd"), wire.List(q.Cwd))
	if q.Text != "" {
		c.add(member("subject")+` LIKE ? ESCAPE '\'`, like(q.Text))
	}
	if !q.Since.IsZero() {
		c.add("at >= ?", q.Since.UnixNano())
	}
	if !q.Until.IsZero() {
		c.add("at < ?", q.Until.UnixNano())
	}
	return `SELECT ` + columns + ` FROM events
		WHERE ` + c.text() + ` ORDER BY seq DESC LIMIT ?`, append(c.args, limit)
}

const acceptedColumns = `seq, id, at, name, size, detail, redacted, ` + historyKept

// scanAccepted reads an event without its data.
func scanAccepted(row scanner) (v StoredEvent, err error) {
	var r eventRow
	err = row.Scan(&r.seq, &r.id, &r.at, &r.name, &r.size, &r.detail, &r.redacted, &r.kept)
	if err != nil {
		return v, err
	}
	v = StoredEvent{Size: r.size, Redacted: r.redacted, Whole: r.kept == keptAll}
	v.Event, err = r.decode(nil)
	return v, err
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/hookd/hookd/wire"
)

// eventQuery selects events and reads some of their columns.
type eventQuery[T any] struct {
	wire.EventQuery
	names   []string // any of them; none = all
	wait    bool     // only those whose senders waited
	columns string
	scan    func(scanner) (T, error)
}

// EventPage is a part of an answer, newest first; Next as in Page. The events
// have no data.
type EventPage struct {
	Events []StoredEvent
	Next   uint64
}

// Events returns a page of accepted events. They are read in the order of their
// numbers: those of one session among the events between its first and its last.
func (s *archive) Events(ctx context.Context, asked wire.EventQuery) (page EventPage, err error) {
	q := eventQuery[StoredEvent]{EventQuery: asked, columns: acceptedColumns, scan: scanAccepted}
	page.Events, page.Next, err = pageOf(ctx, s, q.Limit, q, func(e StoredEvent) uint64 { return e.Seq })
	if err != nil {
		return page, fmt.Errorf("query events: %w", err)
	}
	return page, nil
}

func (q eventQuery[T]) bounds(ctx context.Context, db *sql.DB) (low, high int64, err error) {
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
	since, until := shifted(q.Since, -clockSlack), shifted(q.Until, clockSlack)
	return stretch{"events", "at", since, until, q.Before}.bounds(ctx, db)
}

func (q eventQuery[T]) between(ctx context.Context, db *sql.DB, from, to int64, limit int) ([]T, error) {
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
	c.span("at", q.Since, q.Until)
	return list(ctx, db, q.scan,
		`SELECT `+q.columns+` FROM events WHERE `+c.text()+` ORDER BY seq DESC LIMIT ?`, append(c.args, limit)...)
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

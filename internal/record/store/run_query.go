package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// runQuery selects runs.
type runQuery wire.RunQuery

// Page is a part of an answer, newest first.
type Page struct {
	Runs []wire.Run // without their output
	// Next is the value of wire.RunQuery.Before to go on, 0 when there is no more. A
	// page may be short, even empty, and still have one: a search for rare runs
	// in a long history is done in parts of about 60 ms.
	Next uint64
}

const (
	queryTime  = 60 * time.Millisecond
	firstPart  = 50_000      // numbers looked at in one statement, at first
	clockSlack = time.Minute // that runs may be out of order in time
	longestRun = time.Hour   // from start to end, with a good margin: a deadline is 10 min at most
)

// archive reads the events, runs and decisions that are kept.
type archive struct{ *core }

// Runs returns a page of runs.
func (s *archive) Runs(ctx context.Context, q wire.RunQuery) (page Page, err error) {
	if q.Limit <= 0 {
		q.Limit = 50
	}
	err = s.read(func(db *sql.DB) error {
		low, high, err := bounds(ctx, db, q)
		if err != nil {
			return err
		}
		w := walk[wire.Run]{limit: q.Limit, low: low, high: high, seq: func(r wire.Run) uint64 { return r.Seq }}
		w.between = func(from, to int64, limit int) ([]wire.Run, error) {
			return runQuery(q).between(ctx, db, from, to, limit)
		}
		page.Runs, page.Next, err = w.down()
		return err
	})
	if err != nil {
		return page, fmt.Errorf("query runs: %w", err)
	}
	return page, nil
}

// bounds returns the numbers, low ≤ seq < high, among which the runs must be.
// Times are found by way of the order of numbers; a clock that was set back
// may hide runs at the edges.
func bounds(ctx context.Context, db *sql.DB, q wire.RunQuery) (low, high int64, err error) {
	var first, last sql.NullInt64
	row := db.QueryRowContext(ctx, `SELECT (SELECT min(seq) FROM runs), (SELECT max(seq) FROM runs)`)
	if err := row.Scan(&first, &last); err != nil || !last.Valid {
		return 0, 0, err
	}
	low, high = first.Int64, last.Int64+1
	const text = `SELECT seq, ended FROM runs WHERE seq >= ? ORDER BY seq LIMIT 1`
	if !q.Since.IsZero() {
		if low, err = firstSince(ctx, db, text, low, high, q.Since.Add(-clockSlack)); err != nil {
			return 0, 0, err
		}
	}
	if !q.Until.IsZero() {
		if high, err = firstSince(ctx, db, text, low, high, q.Until.Add(longestRun)); err != nil {
			return 0, 0, err
		}
	}
	if q.Before > 0 {
		high = min(high, int64(min(q.Before, 1<<62)))
	}
	return low, high, nil
}

// walk reads records from the newest down, in parts that double while they are
// cheap, so that no single statement takes long however rare the records are.
type walk[T any] struct {
	limit     int
	low, high int64 // numbers, low ≤ seq < high
	between   func(from, to int64, limit int) ([]T, error)
	seq       func(T) uint64
}

// down returns a page, and the number below which the next one begins; 0 = there
// is no more.
func (w walk[T]) down() (found []T, next uint64, err error) {
	begin := time.Now()
	for part := int64(firstPart); w.high > w.low; {
		from := max(w.low, w.high-part)
		before := time.Now()
		more, err := w.between(from, w.high, w.limit-len(found))
		if err != nil {
			return found, 0, err
		}
		if found = append(found, more...); len(found) == w.limit {
			return found, w.seq(found[w.limit-1]), nil
		}
		w.high = from
		if w.high > w.low && time.Since(begin) > queryTime {
			return found, uint64(w.high), nil
		}
		if time.Since(before) < queryTime/10 {
			part *= 2
		}
	}
	return found, 0, nil
}

// between returns the newest runs with numbers from ≤ seq < to.
func (q runQuery) between(ctx context.Context, db *sql.DB, from, to int64, limit int) ([]wire.Run, error) {
	if q.Agent == "" || q.dialect() {
		return q.statement(ctx, db, "", from, to, limit)
	}
	byID, err := q.statement(ctx, db, "agent_id", from, to, limit)
	if err != nil {
		return nil, err
	}
	byName, err := q.statement(ctx, db, "agent_name", from, to, limit)
	if err != nil {
		return nil, err
	}
	runs := append(byID, byName...)
	slices.SortFunc(runs, func(a, b wire.Run) int { return cmp.Compare(b.Seq, a.Seq) })
	runs = slices.CompactFunc(runs, func(a, b wire.Run) bool { return a.Seq == b.Seq })
	return runs[:min(limit, len(runs))], nil
}

// dialect reports whether Agent is the name of a dialect, for which there is no index: many runs of a
// part that is read have it, or the history has few.
func (q runQuery) dialect() bool { return slices.Contains(events.Dialects(), events.Dialect(q.Agent)) }

// statement reads with the index that promises the fewest rows; agent names
// the column that Query.Agent is looked for in.
func (q runQuery) statement(
	ctx context.Context, db *sql.DB, agent string, from, to int64, limit int,
) ([]wire.Run, error) {
	where, args := []string{"r.seq >= ?", "r.seq < ?", "r.test = ?"}, []any{from, to, q.Test}
	index := ""
	equal := func(column, value, condition string) {
		if value == "" || column == "" {
			return
		}
		where, args = append(where, "r."+column+" = ?"), append(args, value)
		if condition == "never" {
			return
		}
		if condition != "" { // that of the partial index
			where = append(where, "r."+column+" <> "+condition)
		}
		if index == "" {
			index = " INDEXED BY runs_" + strings.TrimSuffix(column, "_id")
			if column == "agent_id" {
				index = " INDEXED BY runs_agent_id"
			}
		}
	}
	if q.EventID != "" {
		where, args, index = append(where, "r.event_id = ?"), append(args, q.EventID), " INDEXED BY runs_event_id"
	}
	if q.Agent != "" && q.dialect() {
		where = append(where, `(r.agent_id = ? OR r.agent_name = ? OR CAST(r.detail AS TEXT) ->> 'dialect' = ?)`)
		args = append(args, q.Agent, q.Agent, q.Agent)
	}
	equal("session_id", q.Session, "''")
	equal(agent, q.Agent, "''")
	if q.Result == wire.ResultOK {
		equal("result", string(q.Result), "never") // most are: no index would help
	} else {
		equal("result", string(q.Result), "'ok'")
	}
	equal("hook", q.Hook, "")
	equal("event", q.Event, "")
	equal("tool", q.Tool, "never")
	if q.Text != "" {
		pattern := like(q.Text)
		where = append(where, `(r.subject LIKE ? ESCAPE '\'
			OR CAST(r.detail AS TEXT) ->> 'reason' LIKE ? ESCAPE '\'
			OR CAST(r.detail AS TEXT) ->> 'error' LIKE ? ESCAPE '\')`)
		args = append(args, pattern, pattern, pattern)
	}
	if !q.Since.IsZero() {
		where, args = append(where, "r.started >= ?"), append(args, q.Since.UnixNano())
	}
	if !q.Until.IsZero() {
		where, args = append(where, "r.started < ?"), append(args, q.Until.UnixNano())
	}
	text := `SELECT ` + runColumns + ` FROM runs r` + index +
		` WHERE ` + strings.Join(where, " AND ") + ` ORDER BY r.seq DESC LIMIT ?`
	scan := func(row scanner) (wire.Run, error) { return scanRun(row, false) }
	return list(ctx, db, scan, text, append(args, limit)...)
}

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

const (
	queryTime  = 60 * time.Millisecond
	firstPart  = 50_000      // numbers looked at in one statement, at first
	clockSlack = time.Minute // that runs may be out of order in time
	longestRun = time.Hour   // from start to end, with a good margin: a deadline is 10 min at most
)

// archive reads the events, runs and decisions that are kept.
type archive struct{ *core }

// Runs returns a page of runs, newest first and without their output. A page may be short, even
// empty, and still have a Next: a search for rare runs in a long history is done in parts of about 60 ms.
func (s *archive) Runs(ctx context.Context, q wire.RunQuery) (page wire.Runs, err error) {
	page.Runs, page.Next, err = pageOf(ctx, s, q.Limit, runQuery(q), func(r wire.Run) uint64 { return r.Seq })
	if err != nil {
		return page, fmt.Errorf("query runs: %w", err)
	}
	return page, nil
}

// paged is a query whose records are read from the newest down.
type paged[T any] interface {
	// bounds returns the numbers, low ≤ seq < high, among which the records must be.
	bounds(ctx context.Context, db *sql.DB) (low, high int64, err error)
	// between returns the newest records with numbers from ≤ seq < to.
	between(ctx context.Context, db *sql.DB, from, to int64, limit int) ([]T, error)
}

// pageOf returns a page of at most limit records, 0 = 50, and the number below which the next begins; 0 = none.
// seq returns a record's number. It reads from the newest down, in parts that double while they are cheap, so that no
// single statement takes long however rare the records are.
func pageOf[T any](
	ctx context.Context, s *archive, limit int, q paged[T], seq func(T) uint64,
) (found []T, next uint64, err error) {
	if limit <= 0 {
		limit = 50
	}
	err = s.read(func(db *sql.DB) error {
		low, high, err := q.bounds(ctx, db)
		if err != nil {
			return err
		}
		begin := time.Now()
		for part := int64(firstPart); high > low; {
			from, before := max(low, high-part), time.Now()
			more, err := q.between(ctx, db, from, high, limit-len(found))
			if err != nil {
				return err
			}
			if found = append(found, more...); len(found) == limit {
				next = seq(found[limit-1])
				return nil
			}
			if high = from; high > low && time.Since(begin) > queryTime {
				next = uint64(high)
				return nil
			}
			if time.Since(before) < queryTime/10 {
				part *= 2
			}
		}
		return nil
	})
	return found, next, err
}

// stretch is a time in which records of a table are looked for, in the order of their numbers: by the time in a
// column, for records from before since, and up to a number. A clock that was set back may hide records at the edges.
type stretch struct {
	table, column string
	since, until  time.Time // zero = no limit
	before        uint64    // 0 = no limit
}

// bounds returns the numbers, low ≤ seq < high, among which the records must be.
func (s stretch) bounds(ctx context.Context, db *sql.DB) (low, high int64, err error) {
	var first, last sql.NullInt64
	row := db.QueryRowContext(ctx, `SELECT (SELECT min(seq) FROM `+s.table+`), (SELECT max(seq) FROM `+s.table+`)`)
	if err := row.Scan(&first, &last); err != nil || !last.Valid {
		return 0, 0, err
	}
	low, high = first.Int64, last.Int64+1
	text := `SELECT seq, ` + s.column + ` FROM ` + s.table + ` WHERE seq >= ? ORDER BY seq LIMIT 1`
	if !s.since.IsZero() {
		if low, err = firstSince(ctx, db, text, low, high, s.since); err != nil {
			return 0, 0, err
		}
	}
	if !s.until.IsZero() {
		if high, err = firstSince(ctx, db, text, low, high, s.until); err != nil {
			return 0, 0, err
		}
	}
	if s.before > 0 {
		high = min(high, int64(min(s.before, 1<<62)))
	}
	return low, high, nil
}

// shifted is t later by d; the zero time, which is no limit, stays.
func shifted(t time.Time, d time.Duration) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(d)
}

func (q runQuery) bounds(ctx context.Context, db *sql.DB) (low, high int64, err error) {
	since, until := shifted(q.Since, -clockSlack), shifted(q.Until, longestRun)
	return stretch{"runs", "ended", since, until, q.Before}.bounds(ctx, db)
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
	c := conditions{table: "r."}
	c.add("r.seq >= ? AND r.seq < ? AND r.test = ?", from, to, q.Test)
	index := ""
	equal := func(column, value, condition string) {
		if value == "" || column == "" {
			return
		}
		c.add("r."+column+" = ?", value)
		if condition == "never" {
			return
		}
		if condition != "" { // that of the partial index
			c.add("r." + column + " <> " + condition)
		}
		if index == "" {
			index = " INDEXED BY runs_" + strings.TrimSuffix(column, "_id")
			if column == "agent_id" {
				index = " INDEXED BY runs_agent_id"
			}
		}
	}
	if q.EventID != "" {
		c.add("r.event_id = ?", q.EventID)
		index = " INDEXED BY runs_event_id"
	}
	if q.Agent != "" && q.dialect() {
		c.add(`(r.agent_id = ? OR r.agent_name = ? OR CAST(r.detail AS TEXT) ->> 'dialect' = ?)`, q.Agent, q.Agent, q.Agent)
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
		c.add(`(r.subject LIKE ? ESCAPE '\' OR CAST(r.detail AS TEXT) ->> 'reason' LIKE ? ESCAPE '\'
			OR CAST(r.detail AS TEXT) ->> 'error' LIKE ? ESCAPE '\')`, pattern, pattern, pattern)
	}
	c.span("r.started", q.Since, q.Until)
	text := `SELECT ` + runColumns + ` FROM runs r` + index +
		` WHERE ` + c.text() + ` ORDER BY r.seq DESC LIMIT ?`
	scan := func(row scanner) (wire.Run, error) { return scanRun(row, false) }
	return list(ctx, db, scan, text, append(c.args, limit)...)
}

package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/events"
)

// Query selects runs; the zero value selects the newest 50.
type Query struct {
	Hook, Event, Session string // exact; "" = all
	EventID              string // exact
	Agent                string // id or name
	Result               events.Result
	Since, Until         time.Time // of the start; zero = no bound, Until itself is out
	Before               uint64    // Page.Next of the page before; 0 = begin with the newest
	Limit                int       // 0 = 50
}

// Page is a part of an answer, newest first.
type Page struct {
	Runs []events.Run // without their output
	// Next is what Query.Before must be to go on, 0 when there is no more. A
	// page may be short, even empty, and still have one: looking for what is
	// rare in a long history is done in parts of about 60 ms.
	Next uint64
}

const (
	queryTime  = 60 * time.Millisecond
	firstPart  = 50_000      // numbers looked at in one statement, at first
	clockSlack = time.Minute // that runs may be out of order in time
	longestRun = time.Hour   // from start to end, with a good margin: SPEC section 4 allows 10 min
)

// Runs returns a page of runs.
func (s *Store) Runs(ctx context.Context, q Query) (page Page, err error) {
	if q.Limit <= 0 {
		q.Limit = 50
	}
	err = s.read(ctx, func(db *sql.DB) error {
		low, high, err := bounds(ctx, db, q)
		if err != nil {
			return err
		}
		page, err = q.collect(ctx, db, low, high)
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
func bounds(ctx context.Context, db *sql.DB, q Query) (low, high int64, err error) {
	var first, last sql.NullInt64
	if err := db.QueryRowContext(ctx, `SELECT (SELECT min(seq) FROM runs), (SELECT max(seq) FROM runs)`).Scan(&first, &last); err != nil || !last.Valid {
		return 0, 0, err
	}
	low, high = first.Int64, last.Int64+1
	if !q.Since.IsZero() {
		if low, err = firstEnded(ctx, db, low, high, q.Since.Add(-clockSlack)); err != nil {
			return 0, 0, err
		}
	}
	if !q.Until.IsZero() {
		if high, err = firstEnded(ctx, db, low, high, q.Until.Add(longestRun)); err != nil {
			return 0, 0, err
		}
	}
	if q.Before > 0 {
		high = min(high, int64(min(q.Before, 1<<62)))
	}
	return low, high, nil
}

// firstEnded finds the first run that ended at t or later, by halving: numbers
// grow with time.
func firstEnded(ctx context.Context, db *sql.DB, low, high int64, t time.Time) (int64, error) {
	for low < high {
		mid := low + (high-low)/2
		var seq, ended int64
		err := db.QueryRowContext(ctx, `SELECT seq, ended FROM runs WHERE seq >= ? ORDER BY seq LIMIT 1`, mid).Scan(&seq, &ended)
		switch {
		case errors.Is(err, sql.ErrNoRows) || err == nil && ended >= t.UnixNano():
			high = mid
		case err != nil:
			return 0, err
		default:
			low = seq + 1
		}
	}
	return low, nil
}

// collect walks down from high in parts that double while they are cheap, so
// that no single statement takes long however rare the runs are.
func (q Query) collect(ctx context.Context, db *sql.DB, low, high int64) (page Page, err error) {
	begin := time.Now()
	for part := int64(firstPart); high > low; {
		from := max(low, high-part)
		before := time.Now()
		runs, err := q.between(ctx, db, from, high, q.Limit-len(page.Runs))
		if err != nil {
			return page, err
		}
		page.Runs = append(page.Runs, runs...)
		if len(page.Runs) == q.Limit {
			page.Next = page.Runs[q.Limit-1].Seq
			return page, nil
		}
		high = from
		if high > low && time.Since(begin) > queryTime {
			page.Next = uint64(high)
			return page, nil
		}
		if time.Since(before) < queryTime/10 {
			part *= 2
		}
	}
	return page, nil
}

// between returns the newest runs with numbers from ≤ seq < to.
func (q Query) between(ctx context.Context, db *sql.DB, from, to int64, limit int) ([]events.Run, error) {
	if q.Agent == "" {
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
	slices.SortFunc(runs, func(a, b events.Run) int { return cmp.Compare(b.Seq, a.Seq) })
	runs = slices.CompactFunc(runs, func(a, b events.Run) bool { return a.Seq == b.Seq })
	return runs[:min(limit, len(runs))], nil
}

// statement reads with the index that promises the fewest rows; agent names
// the column that Query.Agent is looked for in.
func (q Query) statement(ctx context.Context, db *sql.DB, agent string, from, to int64, limit int) ([]events.Run, error) {
	where, args := []string{"r.seq >= ?", "r.seq < ?"}, []any{from, to}
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
	equal("session_id", q.Session, "''")
	equal(agent, q.Agent, "''")
	if q.Result == events.ResultOK {
		equal("result", string(q.Result), "never") // most are: no index would help
	} else {
		equal("result", string(q.Result), "'ok'")
	}
	equal("hook", q.Hook, "")
	equal("event", q.Event, "")
	if !q.Since.IsZero() {
		where, args = append(where, "r.started >= ?"), append(args, q.Since.UnixNano())
	}
	if !q.Until.IsZero() {
		where, args = append(where, "r.started < ?"), append(args, q.Until.UnixNano())
	}
	return list(ctx, db, func(row scanner) (events.Run, error) { return scanRun(row, false) },
		`SELECT `+runColumns+` FROM runs r`+index+` WHERE `+strings.Join(where, " AND ")+` ORDER BY r.seq DESC LIMIT ?`, append(args, limit)...)
}

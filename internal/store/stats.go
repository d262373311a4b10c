package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/events"
)

// What is counted for how long. A question that begins further back than hours
// are kept is answered by whole days.
const (
	hour      = int64(3600)
	day       = 24 * hour
	keepHours = 32 * 24 * time.Hour
	keepDays  = 400 * 24 * time.Hour
)

// spanKey names an hour or a day of a hook.
type spanKey struct {
	length, start int64
	hook          string
}

// span is what happened in it.
type span struct {
	runs, failures, blocked int64
	durations               histogram
	dirty                   bool
}

// spanCache has the spans that runs end in now, as the transaction under way
// sees them.
type spanCache struct{ spans map[spanKey]*span }

func newSpanCache() *spanCache { return &spanCache{spans: map[spanKey]*span{}} }

// forget drops everything: what was counted did not get to the disk.
func (c *spanCache) forget() { clear(c.spans) }

// count adds a run to its hour and its day.
func (c *spanCache) count(db *database, r *events.Run, ended time.Time) error {
	for _, length := range []int64{hour, day} {
		key := spanKey{length: length, start: floor(ended.Unix(), length), hook: r.Hook}
		sp := c.spans[key]
		if sp == nil {
			var err error
			if sp, err = readSpan(db, key); err != nil {
				return err
			}
			c.spans[key] = sp
		}
		sp.count(r)
	}
	return nil
}

func floor(t, length int64) int64 { return t - (t%length+length)%length }

func (sp *span) count(r *events.Run) {
	sp.dirty = true
	sp.runs++
	switch r.Result {
	case events.ResultFailed, events.ResultTimeout:
		sp.failures++
	case events.ResultSpawnError, events.ResultInterrupted:
		sp.failures++
		return // it has no duration
	case events.ResultDropped:
		return
	case events.ResultBlock:
		sp.blocked++
	}
	sp.durations.add(time.Duration(r.DurationMS * float64(time.Millisecond)))
}

func readSpan(db *database, key spanKey) (*span, error) {
	sp := &span{}
	var durations []byte
	err := db.row(`SELECT runs, failures, blocked, durations FROM spans WHERE length = ? AND start = ? AND hook = ?`,
		key.length, key.start, key.hook).Scan(&sp.runs, &sp.failures, &sp.blocked, &durations)
	if errors.Is(err, sql.ErrNoRows) {
		return sp, nil
	}
	if err == nil {
		err = sp.durations.decode(durations)
	}
	if err != nil {
		return nil, fmt.Errorf("read span of hook %s: %w", key.hook, err)
	}
	return sp, nil
}

// maxSpans is how many are kept at hand between commits.
const maxSpans = 4096

// flush writes what has changed.
func (c *spanCache) flush(db *database) error {
	for key, sp := range c.spans {
		if !sp.dirty {
			continue
		}
		_, err := db.exec(`INSERT OR REPLACE INTO spans (length, start, hook, runs, failures, blocked, durations) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			key.length, key.start, key.hook, sp.runs, sp.failures, sp.blocked, sp.durations.encode())
		if err != nil {
			return fmt.Errorf("write span of hook %s: %w", key.hook, err)
		}
		sp.dirty = false
	}
	if len(c.spans) > maxSpans {
		c.forget()
	}
	return nil
}

// Stats is what one hook did in a time.
type Stats struct {
	Hook          string
	Runs          int64
	Failures      int64         // failed, timed out, did not start, interrupted
	Blocked       int64         // answered no
	P50, P95, P99 time.Duration // of the runs that started and ended; within 5 %
}

// StatsQuery selects what Stats counts. Since is rounded down and Until up to
// the hour, in UTC; a Since more than 32 days ago down to the day.
type StatsQuery struct {
	Hook         string    // "" = each
	Since, Until time.Time // zero = no bound; counts are kept for 400 days
}

// Stats returns one row for each hook that ran, in the order of their names.
// It reads the counts kept by hour and day, never the runs.
func (s *Store) Stats(ctx context.Context, q StatsQuery) (all []Stats, err error) {
	type row struct {
		hook string
		span
	}
	ranges := q.ranges(time.Now())
	sums := map[string]*span{}
	err = s.read(ctx, func(db *sql.DB) error {
		for _, r := range ranges {
			rows, err := list(ctx, db, func(sc scanner) (v row, err error) {
				var durations []byte
				if err = sc.Scan(&v.hook, &v.runs, &v.failures, &v.blocked, &durations); err == nil {
					err = v.durations.decode(durations)
				}
				return v, err
			}, `SELECT hook, runs, failures, blocked, durations FROM spans WHERE length = ? AND start >= ? AND start < ? AND (?4 = '' OR hook = ?4)`,
				r.length, r.from, r.to, q.Hook)
			if err != nil {
				return err
			}
			for i := range rows {
				add(sums, rows[i].hook, &rows[i].span)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read statistics: %w", err)
	}
	for hook, sp := range sums {
		all = append(all, Stats{
			Hook: hook, Runs: sp.runs, Failures: sp.failures, Blocked: sp.blocked,
			P50: sp.durations.percentile(0.50), P95: sp.durations.percentile(0.95), P99: sp.durations.percentile(0.99),
		})
	}
	slices.SortFunc(all, func(a, b Stats) int { return cmp.Compare(a.Hook, b.Hook) })
	return all, nil
}

func add(sums map[string]*span, hook string, sp *span) {
	sum := sums[hook]
	if sum == nil {
		sum = &span{}
		sums[hook] = sum
	}
	sum.runs += sp.runs
	sum.failures += sp.failures
	sum.blocked += sp.blocked
	sum.durations.merge(&sp.durations)
}

// spanRange is a stretch of spans of one length, from ≤ start < to.
type spanRange struct{ length, from, to int64 }

// ranges covers the time asked for with whole days, and hours at its ends.
func (q StatsQuery) ranges(now time.Time) []spanRange {
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	if !q.Until.IsZero() && q.Until.Before(now) {
		to = floor(q.Until.Unix()+hour-1, hour)
	}
	if !q.Since.IsZero() {
		from = floor(q.Since.Unix(), hour)
	}
	oldest := now.Add(-keepHours).Unix()
	firstDay, endDay := from, to
	if from != math.MinInt64 {
		if firstDay = floor(from+day-1, day); from < oldest {
			firstDay = floor(from, day)
		}
	}
	if to != math.MaxInt64 {
		if endDay = floor(to, day); to < oldest {
			endDay = floor(to+day-1, day)
		}
	}
	if firstDay >= endDay { // within one day
		return []spanRange{{hour, from, to}}
	}
	list := []spanRange{{day, firstDay, endDay}}
	if from < firstDay {
		list = append(list, spanRange{hour, from, firstDay})
	}
	if endDay < to {
		list = append(list, spanRange{hour, endDay, to})
	}
	return list
}

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
	"github.com/hookd/hookd/wire"
)

// How long each count is kept. A question that begins further back than hours
// are kept is answered by whole days.
const (
	hour      = int64(3600)
	day       = 24 * hour
	keepHours = 32 * 24 * time.Hour
	keepDays  = 400 * 24 * time.Hour
)

// The kinds of names that runs are counted by.
const (
	byHook  = "hook"
	byAgent = "agent"
	byTool  = "tool"
)

// spanKey names an hour or a day of a hook, an agent or a tool.
type spanKey struct {
	length, start int64
	by, name      string
}

// span counts the runs in one hour or day.
type span struct {
	runs, failures, denied int64
	waited                 int64 // nanoseconds
	durations              histogram
	dirty                  bool
}

// spanCache has the spans that runs end in now, as the transaction under way
// sees them.
type spanCache struct {
	spans map[spanKey]*span
	names map[spanKey]int // how many there are, by key without its name
}

func newSpanCache() *spanCache {
	return &spanCache{spans: map[spanKey]*span{}, names: map[spanKey]int{}}
}

// forget drops everything: the counts did not get to the disk.
func (c *spanCache) forget() {
	clear(c.spans)
	clear(c.names)
}

// count adds a run to its hour and its day: of its hook, its agent and its tool.
func (c *spanCache) count(db *database, r *wire.Run, ended time.Time) error {
	err := c.change(db, ended, byHook, r.Hook, func(sp *span) {
		if sp.count(r); r.Awaited {
			sp.waited += int64(r.DurationMS * float64(time.Millisecond))
		}
	})
	if err == nil {
		err = c.group(db, ended, agentOf(r.AgentName, r.Dialect), r.Tool, func(sp *span) { sp.count(r) })
	}
	return err
}

// group changes the spans of an agent and of a tool, unless they are "".
func (c *spanCache) group(db *database, at time.Time, agent, tool string, change func(*span)) (err error) {
	if agent != "" {
		err = c.change(db, at, byAgent, agent, change)
	}
	if err == nil && tool != "" {
		err = c.change(db, at, byTool, tool, change)
	}
	return err
}

// waited adds the time that an agent has waited for a decision of hooks; how long it
// waited for a person is another matter.
func (c *spanCache) waited(db *database, d *wire.Decision) error {
	took := time.Duration(d.DurationMS * float64(time.Millisecond))
	waited := took
	if d.Answered != nil {
		waited = max(0, took-time.Duration(d.Answered.HeldMS*float64(time.Millisecond)))
	}
	add := func(sp *span) { sp.waited += int64(waited) }
	return c.group(db, d.Time.Add(took), agentOf(d.AgentName, d.Dialect), d.Tool, add)
}

// agentOf is the name that an agent is counted under.
func agentOf(name string, d events.Dialect) string { return cmp.Or(name, string(d)) }

func (c *spanCache) change(db *database, at time.Time, by, name string, change func(*span)) error {
	for _, length := range []int64{hour, day} {
		sp, err := c.get(db, spanKey{length, floor(at.Unix(), length), by, name})
		if err != nil {
			return err
		}
		sp.dirty = true
		change(sp)
	}
	return nil
}

// maxNames is how many agents, and how many tools, are told apart in an hour or a
// day: their names are the senders' to choose. The rest is counted together.
const (
	maxNames   = 200
	otherNames = "(others)"
)

func (c *spanCache) get(db *database, key spanKey) (*span, error) {
	if sp := c.spans[key]; sp != nil {
		return sp, nil
	}
	sp, known, err := readSpan(db, key)
	if err != nil {
		return nil, err
	}
	if !known && key.by != byHook && key.name != otherNames {
		group := key
		group.name = ""
		n, counted := c.names[group]
		if !counted {
			row := db.row(`SELECT count(*) FROM spans WHERE length = ? AND start = ? AND by = ?`,
				key.length, key.start, key.by)
			if err := row.Scan(&n); err != nil {
				return nil, fmt.Errorf("count spans: %w", err)
			}
		}
		if n >= maxNames {
			c.names[group] = n
			key.name = otherNames
			return c.get(db, key)
		}
		c.names[group] = n + 1
	}
	c.spans[key] = sp
	return sp, nil
}

func floor(t, length int64) int64 { return t - (t%length+length)%length }

func (sp *span) count(r *wire.Run) {
	sp.runs++
	if r.Failure == wire.FailureDenies {
		sp.denied++
	}
	switch r.Result {
	case wire.ResultFailed, wire.ResultTimeout:
		sp.failures++
	case wire.ResultSpawnError:
		sp.failures++
		return // it has no duration
	case wire.ResultInterrupted, wire.ResultDropped, wire.ResultMerged: // by hookd, not by the hook
		return
	case wire.ResultDeny:
		sp.denied++
	}
	sp.durations.add(time.Duration(r.DurationMS * float64(time.Millisecond)))
}

func readSpan(db *database, key spanKey) (_ *span, known bool, _ error) {
	sp := &span{}
	var durations []byte
	row := db.row(`SELECT runs, failures, blocked, waited, durations FROM spans
		WHERE length = ? AND start = ? AND by = ? AND name = ?`, key.length, key.start, key.by, key.name)
	err := row.Scan(&sp.runs, &sp.failures, &sp.denied, &sp.waited, &durations)
	if errors.Is(err, sql.ErrNoRows) {
		return sp, false, nil
	}
	if err == nil {
		err = sp.durations.decode(durations)
	}
	if err != nil {
		return nil, false, fmt.Errorf("read span of %s %s: %w", key.by, key.name, err)
	}
	return sp, true, nil
}

// maxSpans is how many are kept at hand between commits.
const maxSpans = 4096

// flush writes the changed spans.
func (c *spanCache) flush(db *database) error {
	for key, sp := range c.spans {
		if !sp.dirty {
			continue
		}
		_, err := db.exec(`INSERT OR REPLACE INTO spans (length, start, by, name,
				runs, failures, blocked, waited, durations)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			key.length, key.start, key.by, key.name, sp.runs, sp.failures, sp.denied, sp.waited, sp.durations.encode())
		if err != nil {
			return fmt.Errorf("write span of %s %s: %w", key.by, key.name, err)
		}
		sp.dirty = false
	}
	if len(c.spans) > maxSpans {
		c.forget()
	}
	return nil
}

// More names that Stats counts by, besides hooks, agents and tools. Hours are kept for 32 days.
const (
	ByDay  = "day"
	ByHour = "hour"
)

// Stats counts the runs of one hook in a time, or the runs for one agent, one tool or one day.
type Stats struct {
	Name          string // of the hook, the agent or the tool; of a day its date, of an hour its start, in UTC
	Runs          int64
	Failures      int64         // failed, timed out, did not start
	Denied        int64         // answered no, or denied by failing
	Waited        time.Duration // by agents, for answers
	P50, P95, P99 time.Duration // of the runs that started and ended; within 5 %
}

// Stats returns one row for each hook that ran, or for each name of the kind By. The rows are in
// the order of their names. It reads the counts kept by hour and day, never the runs. q.Since is rounded
// down and q.Until up to the hour, in UTC; a Since more than 32 days ago down to the day.
func (s *archive) Stats(ctx context.Context, q wire.StatsQuery) (all []Stats, err error) {
	type row struct {
		start int64
		name  string
		span
	}
	by := []string{cmp.Or(q.By, byHook)}
	byTime := q.By == ByDay || q.By == ByHour
	if byTime {
		by = []string{byHook, byAgent} // what ran, and how long agents waited for all of it
	}
	sums := map[string]*span{}
	err = s.read(func(db *sql.DB) error {
		for _, by := range by {
			for _, r := range ranges(q, time.Now()) {
				rows, err := list(ctx, db, func(sc scanner) (v row, err error) {
					var durations []byte
					err = sc.Scan(&v.start, &v.name, &v.runs, &v.failures, &v.denied, &v.waited, &durations)
					if err == nil {
						err = v.durations.decode(durations)
					}
					return v, err
				}, `SELECT start, name, runs, failures, blocked, waited, durations FROM spans
					WHERE length = ? AND start >= ? AND start < ? AND by = ? AND (?5 = '' OR name = ?5)`,
					r.length, r.from, r.to, by, q.Hook)
				if err != nil {
					return err
				}
				for i := range rows {
					name, sp := rows[i].name, &rows[i].span
					switch {
					case byTime && by == byHook:
						name, sp.waited = timeOf(q.By, rows[i].start), 0
					case byTime:
						name, sp = timeOf(q.By, rows[i].start), &span{waited: sp.waited}
					}
					add(sums, name, sp)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read statistics: %w", err)
	}
	for name, sp := range sums {
		all = append(all, Stats{
			Name: name, Runs: sp.runs, Failures: sp.failures, Denied: sp.denied, Waited: time.Duration(sp.waited),
			P50: sp.durations.percentile(0.50), P95: sp.durations.percentile(0.95), P99: sp.durations.percentile(0.99),
		})
	}
	slices.SortFunc(all, func(a, b Stats) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// timeOf names the day or the hour of a time in seconds since 1970.
func timeOf(by string, start int64) string {
	if by == ByHour {
		return time.Unix(start, 0).UTC().Format(time.RFC3339)
	}
	return time.Unix(start, 0).UTC().Format(time.DateOnly)
}

func add(sums map[string]*span, name string, sp *span) {
	sum := sums[name]
	if sum == nil {
		sum = &span{}
		sums[name] = sum
	}
	sum.runs += sp.runs
	sum.failures += sp.failures
	sum.denied += sp.denied
	sum.waited += sp.waited
	sum.durations.merge(&sp.durations)
}

// spanRange is a stretch of spans of one length, from ≤ start < to.
type spanRange struct{ length, from, to int64 }

// ranges covers the time asked for with whole days, and hours at its ends.
func ranges(q wire.StatsQuery, now time.Time) []spanRange {
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	if !q.Until.IsZero() && q.Until.Before(now) {
		to = floor(q.Until.Add(time.Hour-1).Unix(), hour) // also by a part of a second
	}
	if !q.Since.IsZero() {
		from = floor(q.Since.Unix(), hour)
	}
	if q.By == ByHour {
		return []spanRange{{hour, from, to}}
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

package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/wire"
)

const (
	countTime   = 150 * time.Millisecond // after which a count ends with what it has
	countPart   = 20_000                 // numbers that one statement looks at
	mostCounted = 50
)

// CountDecisions counts the decisions that Decisions would list, whatever the limit, newest
// first, for a moment: a long history is counted in parts, as it is read. With
// every it also counts by stretches of that length, whose starts are multiples of
// every since 1970. The most frequent values come first, without ""; all values beyond mostCounted are otherNames
// together.
func (s *archive) CountDecisions(
	ctx context.Context, asked wire.DecisionQuery, every time.Duration,
) (counts wire.Counts, err error) {
	q, sum := decisionQuery(asked), newTally(every)
	err = s.read(func(db *sql.DB) error {
		low, high, err := q.bounds(ctx, db)
		if err != nil {
			return err
		}
		begin, words := time.Now(), trigrams(q.Text)
		for to := high; to > low; {
			from := max(low, to-countPart)
			if words != "" {
				from = max(low, to-10*countPart)
			}
			if err := sum.add(ctx, db, q, words, from, to); err != nil {
				return err
			}
			if to = from; to > low && time.Since(begin) > countTime {
				sum.counts.Next = uint64(to)
				return nil
			}
		}
		return nil
	})
	if err != nil {
		return wire.Counts{}, fmt.Errorf("count decisions: %w", err)
	}
	return sum.done(), nil
}

// tally adds up groups of decisions that are alike.
type tally struct {
	counts                                    wire.Counts
	every                                     time.Duration
	decisions, agents, tools, hooks, sessions map[string]int64
	buckets                                   map[int64]*wire.Bucket
}

func newTally(every time.Duration) *tally {
	return &tally{
		every: every, decisions: map[string]int64{}, agents: map[string]int64{}, tools: map[string]int64{},
		hooks: map[string]int64{}, sessions: map[string]int64{}, buckets: map[int64]*wire.Bucket{},
	}
}

// alike are decisions that differ in nothing that is counted.
type alike struct {
	start                                 int64
	decision, agent, tool, hooks, session string
	said                                  wire.Outcome
	guarded                               wire.Guarded
	rewrote, tried                        bool
	count                                 int64
}

// add counts the decisions with numbers from ≤ seq < to; words are the trigrams of q.Text.
// SQLite puts like decisions together: far fewer rows come out than it reads.
func (t *tally) add(ctx context.Context, db *sql.DB, q decisionQuery, words string, from, to int64) error {
	start := "0"
	if t.every > 0 {
		start = fmt.Sprintf("d.at - d.at %% %d", t.every.Nanoseconds())
	}
	columns := start + ` AS start, d.decision AS decision, ` + saidColumn + ` AS said, d.guarded AS guarded, d.tool AS tool, d.hooks AS hooks, d.session_id AS session,
		CASE d.agent_name WHEN '' THEN d.dialect ELSE d.agent_name END AS agent,
		CAST(d.detail AS TEXT) ->> 'rewrote' IS NOT NULL AS rewrote, CAST(d.detail AS TEXT) ->> 'tried' IS NOT NULL AS tried`
	inner, args := q.sql(columns, from, to, int(to-from))
	if words != "" {
		blocks, err := textBlocks(ctx, db, words, from, to, -1)
		if err != nil || len(blocks) == 0 {
			return err
		}
		inner, args = q.inBlocks(columns, blocks, from, to)
	}
	rows, err := list(ctx, db, func(row scanner) (a alike, err error) {
		return a, row.Scan(
			&a.start, &a.decision, &a.said, &a.guarded, &a.agent, &a.tool, &a.hooks, &a.session, &a.rewrote, &a.tried,
			&a.count,
		)
	}, `SELECT start, decision, said, guarded, agent, tool, hooks, session, rewrote, tried, count(*) FROM (`+inner+`)
		GROUP BY start, decision, said, guarded, agent, tool, hooks, session, rewrote, tried`, args...)
	for _, a := range rows {
		t.count(a)
	}
	return err
}

func (t *tally) count(a alike) {
	if a.tried {
		t.counts.Tried += a.count
		return
	}
	t.counts.Total += a.count
	if a.rewrote {
		t.counts.Rewrote += a.count
	}
	for _, word := range wire.WordsOf(a.said, a.guarded) {
		t.decisions[string(word)] += a.count
	}
	t.agents[a.agent] += a.count
	t.tools[a.tool] += a.count
	t.sessions[a.session] += a.count
	for hook := range strings.SplitSeq(a.hooks, "\n") {
		t.hooks[hook] += a.count
	}
	if t.every == 0 {
		return
	}
	b := t.buckets[a.start]
	if b == nil {
		b = &wire.Bucket{Start: moment(a.start)}
		t.buckets[a.start] = b
	}
	if a.guarded == wire.GuardedDisobeyed {
		b.Disobeyed += a.count
	}
	switch outcome := wire.Outcome(a.decision); {
	case a.said == wire.OutcomeNotAsked:
		b.NotAsked += a.count
	case outcome == wire.OutcomeDeny:
		b.Deny += a.count
	case outcome == wire.OutcomeAsk:
		b.Ask += a.count
	case outcome == wire.OutcomeAllow, outcome == wire.OutcomeContain:
		b.Allow += a.count
	default:
		b.None += a.count
	}
}

func (t *tally) done() wire.Counts {
	c := t.counts
	c.Decisions, c.Agents, c.Tools, c.Hooks = most(t.decisions), most(t.agents), most(t.tools), most(t.hooks)
	delete(t.sessions, "")
	c.Sessions = int64(len(t.sessions))
	for _, b := range t.buckets {
		c.Buckets = append(c.Buckets, *b)
	}
	slices.SortFunc(c.Buckets, func(a, b wire.Bucket) int { return a.Start.Compare(b.Start) })
	return c
}

// most returns the names with the highest counts; the rest is counted together.
func most(counts map[string]int64) []wire.Count {
	delete(counts, "")
	list := []wire.Count{}
	for name, n := range counts {
		list = append(list, wire.Count{Name: name, Count: n})
	}
	slices.SortFunc(list, func(a, b wire.Count) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	if len(list) <= mostCounted {
		return list
	}
	rest := wire.Count{Name: otherNames}
	for _, c := range list[mostCounted-1:] {
		rest.Count += c.Count
	}
	return append(list[:mostCounted-1], rest)
}

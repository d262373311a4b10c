package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite"

	"github.com/hookd/hookd/client"
)

// mostDecisions is the largest history. Ten million decisions take minutes and some GiB.
var mostDecisions = 1_000_000

// decisionSizes are the sizes of the history, each ten times the one before.
func decisionSizes() (sizes []int) {
	for n := 10_000; n <= mostDecisions; n *= 10 {
		sizes = append(sizes, n)
	}
	return sizes
}

// historyQuestions are the usual questions to a history of decisions; the slowest one counts.
var historyQuestions = []client.DecisionQuery{
	{}, {Session: "s-7-1"}, {Tool: "shell"}, {Decision: "deny"},
	{Session: "there is no such session"},
}

// decisions measures a call, and questions to the history, as the history grows. One daemon makes it by calls, and
// SQL copies their decisions, with other sessions; the copies are not in the index of text.
func decisions(b *bench) (rows []row, err error) {
	d, err := b.home(hooks{"guard": "name: guard\nrules:\n  - {deny: mkfs *, why: it is a disk}\n"})
	if err != nil {
		return nil, err
	}
	settings := []string{"HOOKD_HISTORY_MAX_BYTES=64GiB", "HOOKD_HISTORY_MAX_RUNS=100000000"}
	if err := b.serve(d, settings); err != nil {
		return nil, err
	}
	defer func() { d.stop() }()
	one := func(i int) (command, cwd string) {
		if i%50 == 0 {
			return fmt.Sprint("mkfs disk", i), "/tmp"
		}
		return fmt.Sprint("ls d", i), "/tmp"
	}
	const made = 1000
	if err := d.callAll(made, one); err != nil {
		return nil, err
	}
	var cost, asked []string
	var costs, slowest []float64
	for _, n := range decisionSizes() {
		d.halt()
		if err := copyDecisions(filepath.Join(d.home, "hookd.db"), made, n); err != nil {
			return nil, err
		}
		if err := b.serve(d, settings); err != nil {
			return nil, err
		}
		us, err := b.medianOf(func() (float64, error) { return d.costOfCalls(one) })
		if err != nil {
			return nil, err
		}
		ms, err := d.slowestQuestion(b)
		if err != nil {
			return nil, err
		}
		costs, slowest = append(costs, us), append(slowest, ms)
		cost = append(cost, fmt.Sprintf("%s: %.0f µs", count(float64(n)), us))
		asked = append(asked, fmt.Sprintf("%s: %.1f ms", count(float64(n)), ms))
	}
	last := len(slowest) - 1
	return []row{
		{
			what:   "cost per event as it grows: decisions in the history, a call that a guard judges",
			checks: []check{atMost("× 100 costs ≤ 1.5 ×", 1.5, costs[last]/costs[0], "%.2f ×")},
			beside: strings.Join(cost, ", ") + "; `-decisions 10000000` goes on",
		},
		{
			what:   "a page of decisions: all, a session, a tool, denials, none; the slowest of them",
			checks: []check{atMost("≤ 50 ms", 50, slowest[last], "%.1f ms")},
			beside: strings.Join(asked, ", "),
		},
	}, nil
}

// slowestQuestion is the longest of the medians of each question: ms.
func (d *daemon) slowestQuestion(b *bench) (slowest float64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, q := range historyQuestions {
		ms, err := b.medianOf(func() (float64, error) {
			begin := time.Now()
			_, err := d.client.Decisions(ctx, q)
			return float64(time.Since(begin).Microseconds()) / 1000, err
		})
		if err != nil {
			return 0, err
		}
		slowest = max(slowest, ms)
	}
	return slowest, nil
}

// copyDecisions fills the database of a stopped daemon up to want decisions with copies of its first made.
func copyDecisions(path string, made, want int) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, pragma := range []string{"synchronous = OFF", "cache_size = -262144"} {
		if _, err := db.Exec("PRAGMA " + pragma); err != nil {
			return err
		}
	}
	var have, newest int
	row := db.QueryRow(`SELECT (SELECT count(*) FROM decisions), max((SELECT max(seq) FROM decisions),
		(SELECT ifnull(max(seq), 0) FROM events), (SELECT ifnull(max(seq), 0) FROM runs))`)
	if err := row.Scan(&have, &newest); err != nil {
		return err
	}
	times := (want - have) / made
	if times <= 0 {
		return nil
	}
	rows, err := db.Query(`SELECT name FROM pragma_table_info('decisions')`)
	if err != nil {
		return err
	}
	var names, values []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		names = append(names, name)
		switch name {
		case "seq", "event_seq": // no event is left of it, as of an old one
			name = fmt.Sprintf("%d + i * %d + place", newest+1, made)
		case "event_id":
			name = "event_id || '-' || i"
		case "session_id":
			name = "'s-' || i || '-' || (place / 50)"
		}
		values = append(values, name)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	_, err = db.Exec(fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d),
		base AS MATERIALIZED (SELECT row_number() OVER (ORDER BY seq) - 1 AS place, *
			FROM decisions ORDER BY seq LIMIT %d)
		INSERT INTO decisions (%s) SELECT %s FROM n CROSS JOIN base`,
		times-1, made, strings.Join(names, ", "), strings.Join(values, ", ")))
	return err
}

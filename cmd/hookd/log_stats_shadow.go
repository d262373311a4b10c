package main

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
)

// shadowed has the decisions that one hook in the shadow would have made in the time asked for.
type shadowed struct {
	Hook     string    `json:"hook"`
	Runs     int64     `json:"runs"`
	Failures int64     `json:"failures"`
	Deny     int       `json:"deny"`
	Ask      int       `json:"ask"`
	Allow    int       `json:"allow"`
	Rewrite  int       `json:"rewrite"` // and nothing else
	Last     time.Time `json:"last"`    // decision that it would have changed; zero = none
	P50MS    float64   `json:"p50_ms"`
}

// shadowStats counts the decisions that hooks in the shadow would have made. A hook that is in the
// shadow and had nothing to say is there, too.
func shadowStats(a *app, cmd *cobra.Command, q client.StatsQuery) error {
	ctx, cancel := a.answer(cmd)
	defer cancel()
	c := a.dial(cmd)
	list, err := c.Hooks(ctx)
	if err != nil {
		return err
	}
	rows := map[string]*shadowed{}
	for _, h := range list.Hooks {
		if h.Shadow && (q.Hook == "" || q.Hook == h.Name) {
			rows[h.Name] = &shadowed{Hook: h.Name}
		}
	}
	if err := countShadows(ctx, c, q, rows); err != nil {
		return err
	}
	runs, err := c.Stats(ctx, q)
	if err != nil {
		return err
	}
	for _, s := range runs {
		if row := rows[s.Hook]; row != nil {
			row.Runs, row.Failures, row.P50MS = s.Runs, s.Failures, s.P50MS
		}
	}
	all := []shadowed{}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		all = append(all, *rows[name])
	}
	return a.print(map[string][]shadowed{"hooks": all}, func(p *printer) { printShadowStats(p, all) })
}

// countShadows reads the decisions that hooks in the shadow would have changed.
func countShadows(ctx context.Context, c *client.Client, q client.StatsQuery, rows map[string]*shadowed) error {
	find := client.DecisionQuery{Shadow: true, Hook: q.Hook, Since: q.Since, Until: q.Until, Limit: 1000}
	for {
		page, err := c.Decisions(ctx, find)
		if err != nil {
			return err
		}
		for _, d := range page {
			for _, s := range d.Shadow {
				if !d.Tried && (q.Hook == "" || q.Hook == s.Hook) {
					countShadow(rows, d, s)
				}
			}
		}
		if len(page) < find.Limit {
			return nil
		}
		find.Before = page[len(page)-1].Seq
	}
}

func countShadow(rows map[string]*shadowed, d client.Decision, s client.Shadowed) {
	row := rows[s.Hook]
	if row == nil {
		row = &shadowed{Hook: s.Hook}
		rows[s.Hook] = row
	}
	switch {
	case s.Decision == client.OutcomeDeny:
		row.Deny++
	case s.Decision == client.OutcomeAsk:
		row.Ask++
	case s.Decision == client.OutcomeAllow:
		row.Allow++
	case len(s.Rewrote) > 0:
		row.Rewrite++
	}
	if d.Time.After(row.Last) {
		row.Last = d.Time
	}
}

func printShadowStats(p *printer, list []shadowed) {
	if len(list) == 0 {
		p.sentence(plain, "no hook is in the shadow; write `shadow: true` into a HOOK.yaml to see what it would decide")
		return
	}
	var rows [][]cell
	for _, s := range list {
		rows = append(rows, []cell{
			text(s.Hook), textf("%d", s.Runs), textf("%d", s.Failures), textf("%d", s.Deny), textf("%d", s.Ask),
			textf("%d", s.Allow), textf("%d", s.Rewrite), text(millis(s.P50MS)), text(cmp.Or(ago(s.Last), "-")),
		})
	}
	p.table(append([]column{hookColumn("HOOK")},
		fixed("RUNS", "FAILED", "DENY", "ASK", "ALLOW", "REWRITE", "P50", "LAST")...), rows)
	p.line("would have been; see them with `hookd log --shadow`")
}

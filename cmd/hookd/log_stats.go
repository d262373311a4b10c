package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/wire"
)

func statsCommand(a *app) *cobra.Command {
	query, by, shadow := queryFlags{}, "", false
	query["by"] = &by
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count runs, failures and denials, and how long agents waited",
		Long: `stats tells for each hook, agent, tool or day how often hooks ran, failed and
denied, how long agents waited for their answers, and how long half, 95 % and 99 %
of the runs took at most. Times are rounded to hours; counts are kept for 400 days,
longer than the runs themselves.`,
		Example: `  hookd stats
  hookd stats --by day --since 7d
  hookd stats --hook guard-rm --since 24h
  hookd stats --shadow --since 7d`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			values := query.values(cmd)
			values.Del("limit") // it is of the printed list
			q, bad := wire.ParseStatsQuery(values, time.Now())
			if bad != nil {
				return fail(exitUsage, bad.Hint+", see `hookd stats --help`", "%w", bad)
			}
			if shadow {
				return shadowStats(a, cmd, client.StatsQuery(q))
			}
			return stats(a, cmd, client.StatsQuery(q))
		},
	}
	query.add(cmd,
		[3]string{"hook", "", "of this hook"},
		[3]string{"since", "", "not older than this: 24h, yesterday, 09:00, 2006-01-02"},
		[3]string{"until", "", "older than this, as for --since"})
	cmd.Flags().StringVar(&by, "by", "hook", "count by hook, agent, tool or day")
	cmd.Flags().BoolVar(&shadow, "shadow", false, "what hooks in the shadow would have decided")
	_ = cmd.RegisterFlagCompletionFunc("hook", hookNames(a))
	_ = cmd.RegisterFlagCompletionFunc("by", words("hook", "agent", "tool", "day"))
	return withLimit(a, cmd)
}

func stats(a *app, cmd *cobra.Command, q client.StatsQuery) error {
	ctx, cancel := a.answer(cmd)
	defer cancel()
	if q.By != "" && q.By != "hook" {
		groups, err := a.dial(cmd).StatsBy(ctx, q)
		if err != nil {
			return err
		}
		groups = upTo(groups, a.limit)
		return a.print(map[string]any{"by": q.By, "groups": groups}, func(p *printer) { printStats(p, q.By, groups) })
	}
	hooks, err := a.dial(cmd).Stats(ctx, q)
	if err != nil {
		return err
	}
	hooks = upTo(hooks, a.limit)
	return a.print(map[string][]client.HookStats{"hooks": hooks}, func(p *printer) {
		groups := make([]client.GroupStats, len(hooks))
		for i, s := range hooks {
			groups[i] = client.GroupStats{Name: s.Hook, RunStats: s.RunStats}
		}
		printStats(p, "hook", groups)
	})
}

func printStats(p *printer, by string, groups []client.GroupStats) {
	if len(groups) == 0 {
		p.line("no runs in that time; see `hookd list` for the hooks")
		return
	}
	var most int64
	for _, g := range groups {
		most = max(most, g.Runs)
	}
	header := []column{hookColumn(strings.ToUpper(by)), {title: "RUNS"}}
	if p.width > 0 {
		header = append(header, column{spare: true})
	}
	header = append(header, fixed("FAILED", "DENIED", "WAITED", "P50", "P95", "P99")...)
	var rows [][]cell
	for _, g := range groups {
		name := g.Name
		if name == "" {
			name = "(none)"
		}
		row := []cell{text(name), textf("%d", g.Runs)}
		if p.width > 0 {
			row = append(row, cell{bar(g.Runs, most), dim})
		}
		rows = append(rows, append(row, count(g.Failures, red), count(g.Denied, yellow), text(span(g.WaitedMS)),
			text(millis(g.P50MS)), text(millis(g.P95MS)), text(millis(g.P99MS))))
	}
	p.table(header, rows)
}

// count is a number that deserves a look unless it is zero.
func count(n int64, c colour) cell {
	if n == 0 {
		c = plain
	}
	return cell{textf("%d", n).text, c}
}

// barWidth is the length of the longest bar.
const barWidth = 10

// bar shows n of most as a row of blocks; any number above nothing shows.
func bar(n, most int64) string {
	eighths := []rune(" ▏▎▍▌▋▊▉█")
	if n <= 0 || most <= 0 {
		return ""
	}
	parts := max(1, int(float64(n)/float64(most)*barWidth*8+0.5))
	b := strings.Repeat("█", parts/8)
	if parts%8 > 0 {
		b += string(eighths[parts%8])
	}
	return b
}

// span is a time that agents waited, which may be days.
func span(ms float64) string {
	d := time.Duration(ms * float64(time.Millisecond))
	if d < time.Minute {
		return millis(ms)
	}
	return strings.TrimSuffix(d.Round(time.Second).String(), "0s")
}

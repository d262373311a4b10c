package main

import (
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/api"
)

func statsCommand(a *app) *cobra.Command {
	var hook, since, until string
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count runs and failures of each hook, and how long they took",
		Long: `stats tells for each hook how often it ran, failed and blocked, and how long half,
95 % and 99 % of its runs took at most. Times are rounded to hours; counts are
kept for 400 days, longer than the runs themselves.`,
		Example: `  hookd stats
  hookd stats --hook guard-rm --since 24h`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, bad := api.ParseStatsQuery(url.Values{"hook": {hook}, "since": {since}, "until": {until}}, time.Now())
			if bad != nil {
				return fail(exitUsage, bad.Hint+", see `hookd stats --help`", "%w", bad)
			}
			ctx, cancel := a.answer(cmd)
			defer cancel()
			stats, err := a.dial(cmd).Stats(ctx, client.StatsQuery(q))
			if err != nil {
				return err
			}
			return a.print(map[string][]client.HookStats{"hooks": stats}, func(p *printer) { p.stats(stats) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&hook, "hook", "", "of this hook")
	flags.StringVar(&since, "since", "", "not older than this: 24h, or a time such as 2026-01-02T15:00:00Z")
	flags.StringVar(&until, "until", "", "older than this, as for --since")
	_ = cmd.RegisterFlagCompletionFunc("hook", hookNames(a))
	return cmd
}

func (p *printer) stats(stats []client.HookStats) {
	if len(stats) == 0 {
		p.line("no runs in that time; see `hookd list` for the hooks")
		return
	}
	var rows [][]cell
	for _, s := range stats {
		rows = append(rows, []cell{text(s.Hook), textf("%d", s.Runs), textf("%d", s.Failures), textf("%d", s.Blocked),
			text(millis(s.P50MS)), text(millis(s.P95MS)), text(millis(s.P99MS))})
	}
	p.table([]string{"HOOK", "RUNS", "FAILED", "BLOCKED", "P50", "P95", "P99"}, rows)
}

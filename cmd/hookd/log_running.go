package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
)

func psCommand(a *app) *cobra.Command {
	return withLimit(a, &cobra.Command{
		Use:   "ps",
		Short: "List the runs under way, with their age and what is left of their time",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return showList(a, cmd, "runs", func(ctx context.Context, c *client.Client) ([]client.RunUnderWay, error) {
				return c.Running(ctx)
			}, printUnderWay)
		},
	})
}

func printUnderWay(p *printer, list []client.RunUnderWay) {
	if len(list) == 0 {
		p.line("no hook runs now; `hookd log runs` lists earlier runs")
		return
	}
	id := idsOf(p, list, func(r client.RunUnderWay) string { return r.RunID })
	var rows [][]cell
	for _, r := range list {
		left := text(millis(r.LeftMS))
		if r.LeftMS < 0 {
			left = cell{"over", red}
		}
		rows = append(
			rows,
			[]cell{text(id(r.RunID)), text(r.Hook), text(r.Event), text(millis(r.AgeMS)), left, text(number(r.PID)),
				text(about(r.Tool, r.Subject))},
		)
	}
	p.table(
		[]column{
			{title: "RUN"},
			hookColumn("HOOK"),
			asideColumn("EVENT"),
			{title: "AGE"},
			{title: "LEFT"},
			{title: "PID"},
			textColumn("SUBJECT"),
		},
		rows,
	)
}

func killCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "kill RUN",
		Short: "End one run that is under way",
		Long: `kill ends the processes of one run, which counts as failed then: a guard that is
killed denies where it is fail-closed. A persistent hook's process ends with its run, and
the other runs that it has are given to another. The end of the run's id, as ` + "`hookd log running`" + ` shows
it, is enough when no other run has it.`,
		Args:              one("RUN"),
		ValidArgsFunction: underWayIDs(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			return show(a, cmd, func(ctx context.Context, c *client.Client) (client.RunUnderWay, error) {
				return c.Kill(ctx, args[0])
			}, func(p *printer, run client.RunUnderWay) {
				p.linef("killed run %s of hook %s for %s, after %s; see `hookd log output %s`",
					run.RunID, run.Hook, run.Event, millis(run.AgeMS), ending(run.RunID))
			})
		},
	}
}

func underWayIDs(a *app) completer {
	return asked(a, func(ctx context.Context, c *client.Client) (ids []string) {
		list, _ := c.Running(ctx)
		for _, r := range list {
			ids = append(ids, proposal(r.RunID, r.Hook+" "+r.Event))
		}
		return ids
	})
}

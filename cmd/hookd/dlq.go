package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
)

func dlqCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dlq",
		Short: "See, retry or drop runs that were given up",
		Long: `A run is given up, as a dead letter, when the retries that its hook declares are
used up, or when its event was too old as hookd came back (replay_max_age). Dead
letters are kept for 30 days. With --fleet they are events that no machine of the fleet
took; to retry one is to take it on this machine.`,
	}
	var hook string
	var ofFleet bool
	cmd.PersistentFlags().BoolVar(&ofFleet, "fleet", false, "events that no machine of the fleet took")
	var limit int
	list := &cobra.Command{
		Use:     "list",
		Short:   "List dead letters, newest first",
		Example: "  hookd dlq list --hook post-to-slack",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.answer(cmd)
			defer cancel()
			list := a.dial(cmd).DeadLetters
			if ofFleet {
				list = a.dial(cmd).FleetDeadLetters
			}
			dead, err := list(ctx, hook, limit)
			if err != nil {
				return err
			}
			return a.print(map[string][]client.DeadLetter{"dead": dead}, func(p *printer) { p.deadLetters(dead) })
		},
	}
	list.Flags().StringVar(&hook, "hook", "", "of this hook")
	list.Flags().IntVar(&limit, "limit", 50, "at most this many")
	_ = list.RegisterFlagCompletionFunc("hook", hookNames(a))

	var yes bool
	drop := dlqOne(a, "drop ID", "Delete a dead letter",
		func(ctx context.Context, cmd *cobra.Command, c *client.Client, id int64) (client.DeadLetter, error) {
			if err := a.confirm(yes, fmt.Sprintf("Delete dead letter %d? Its hook never runs for that event.", id),
				fmt.Sprintf("hookd dlq drop %d --yes", id)); err != nil {
				return client.DeadLetter{}, err
			}
			if ofFleet {
				return c.DropFleetDeadLetter(ctx, id)
			}
			return c.DropDeadLetter(ctx, id)
		}, "dropped")
	drop.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.AddCommand(list,
		dlqOne(a, "show ID", "Show a dead letter with its event's data",
			func(ctx context.Context, _ *cobra.Command, c *client.Client, id int64) (client.DeadLetter, error) {
				if ofFleet {
					return c.FleetDeadLetter(ctx, id)
				}
				return c.DeadLetter(ctx, id)
			}, ""),
		dlqOne(a, "retry ID", "Try a dead letter again, now and with today's hook",
			func(ctx context.Context, _ *cobra.Command, c *client.Client, id int64) (client.DeadLetter, error) {
				if ofFleet {
					return c.RetryFleetDeadLetter(ctx, id)
				}
				return c.RetryDeadLetter(ctx, id)
			}, "retried"),
		drop)
	return cmd
}

// dlqOne is a command that does something with one dead letter.
func dlqOne(a *app, use, short string, do func(context.Context, *cobra.Command, *client.Client,
	int64) (client.DeadLetter, error), done string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: one("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || id < 1 {
				return fail(
					exitUsage,
					"type the number that `hookd dlq list` shows",
					"%q is no number of a dead letter",
					args[0],
				)
			}
			ctx, cancel := a.answer(cmd)
			defer cancel()
			d, err := do(ctx, cmd, a.dial(cmd), id)
			if err != nil {
				return err
			}
			return a.print(d, func(p *printer) { p.deadLetter(d, done) })
		},
	}
}

func (p *printer) deadLetters(dead []client.DeadLetter) {
	if len(dead) == 0 {
		p.line("no dead letters")
		return
	}
	var rows [][]cell
	for _, d := range dead {
		rows = append(rows, []cell{textf("%d", d.ID), text(d.Time.Local().Format("2006-01-02 15:04:05")),
			text(d.Machine), text(d.Hook), text(d.Event), textf("%d", d.Attempts),
			text(d.EventID), text(shorten(d.Reason, 100))})
	}
	p.table(
		[]column{
			{title: "ID"},
			{title: "GIVEN UP"},
			asideColumn("MACHINE"),
			nameColumn("HOOK"),
			nameColumn("EVENT"),
			{title: "ATTEMPTS"},
			{title: "EVENT ID"},
			textColumn("REASON"),
		},
		rows,
	)
}

func (p *printer) deadLetter(d client.DeadLetter, done string) {
	if done != "" {
		see := "--event " + d.EventID
		if d.Machine != "" { // the event has another id here
			see = "--hook " + d.Hook
		}
		p.linef("%s: %s for %s, see `hookd history %s`", done, escape(d.Hook, keepNothing),
			escape(d.Event, keepNothing), escape(see, keepNothing))
		return
	}
	p.pairs(
		kv("machine", d.Machine), kv("hook", d.Hook), kv("event", d.Event+" "+d.EventID),
		kv("given up", d.Time.Local().Format("2006-01-02 15:04:05")),
		kv("attempts", fmt.Sprint(d.Attempts)), kv("reason", d.Reason), kv("last run", d.RunID),
		kv("data", string(d.Data)),
	)
}

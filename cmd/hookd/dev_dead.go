package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
)

func dlqCommand(a *app) *cobra.Command {
	d := &deadLetters{a: a}
	cmd := &cobra.Command{
		Use:   "dlq",
		Short: "See, retry or drop runs that were given up",
		Long: `A run is given up, as a dead letter, when the retries that its hook declares are
used up, or when its event was too old as hookd came back (replay_max_age). Dead
letters are kept for 30 days. With --fleet they are events that no machine of the fleet
took; to retry one is to take it on this machine.`,
	}
	cmd.PersistentFlags().BoolVar(&d.ofFleet, "fleet", false, "events that no machine of the fleet took")
	cmd.AddCommand(d.listCommand(), d.showCommand(), d.retryCommand(), d.dropCommand())
	return cmd
}

// deadLetters are those of this machine, or of the fleet.
type deadLetters struct {
	a       *app
	ofFleet bool
}

// onOne does something with the dead letter that has an id.
type onOne func(ctx context.Context, id int64) (client.DeadLetter, error)

// of returns the function for the fleet or for this machine, as --fleet says.
func (d *deadLetters) of(machine, fleet onOne) onOne {
	if d.ofFleet {
		return fleet
	}
	return machine
}

// text returns the text for the fleet or for this machine.
func (d *deadLetters) text(machine, fleet string) string {
	if d.ofFleet {
		return fleet
	}
	return machine
}

func (d *deadLetters) listCommand() *cobra.Command {
	var hook string
	var limit int
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List dead letters, newest first",
		Example: "  hookd dev dead list --hook post-to-slack",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return showList(d.a, cmd, "dead", func(ctx context.Context, c *client.Client) ([]client.DeadLetter, error) {
				if d.ofFleet {
					return c.FleetDeadLetters(ctx, hook, limit)
				}
				return c.DeadLetters(ctx, hook, limit)
			}, printDeadLetters)
		},
	}
	cmd.Flags().StringVar(&hook, "hook", "", "of this hook")
	cmd.Flags().IntVarP(&limit, "limit", "n", 50, "at most this many")
	_ = cmd.RegisterFlagCompletionFunc("hook", hookNames(d.a))
	return cmd
}

func (d *deadLetters) showCommand() *cobra.Command {
	return d.command("show ID", "Show a dead letter with its event's data", "",
		func(c *client.Client) onOne { return d.of(c.DeadLetter, c.FleetDeadLetter) })
}

func (d *deadLetters) retryCommand() *cobra.Command {
	return d.command("retry ID", "Try a dead letter again, now and with today's hook", "retried",
		func(c *client.Client) onOne { return d.of(c.RetryDeadLetter, c.RetryFleetDeadLetter) })
}

func (d *deadLetters) dropCommand() *cobra.Command {
	var yes bool
	cmd := d.command("drop ID", "Delete a dead letter", "dropped", func(c *client.Client) onOne {
		return func(ctx context.Context, id int64) (client.DeadLetter, error) {
			ask := fmt.Sprintf("Delete dead letter %d%s? Its hook never runs for that event.", id, d.text("", " of the fleet"))
			again := fmt.Sprintf("hookd dev dead drop %d%s --yes", id, d.text("", " --fleet"))
			if err := d.a.confirm(yes, ask, again); err != nil {
				return client.DeadLetter{}, err
			}
			return d.of(c.DropDeadLetter, c.DropFleetDeadLetter)(ctx, id)
		}
	})
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// command does something with one dead letter, and prints that it is done, or the letter
// where done is "".
func (d *deadLetters) command(use, short, done string, do func(*client.Client) onOne) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: one("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || id < 1 {
				return fail(exitUsage, "type the number that `hookd dev dead list"+d.text("", " --fleet")+"` shows",
					"%q is no number of a dead letter", args[0])
			}
			return show(d.a, cmd, func(ctx context.Context, c *client.Client) (client.DeadLetter, error) {
				return do(c)(ctx, id)
			}, func(p *printer, letter client.DeadLetter) { printDeadLetter(p, letter, done) })
		},
	}
}

func printDeadLetters(p *printer, dead []client.DeadLetter) {
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
			hookColumn("HOOK"),
			nameColumn("EVENT"),
			{title: "ATTEMPTS"},
			{title: "EVENT ID"},
			textColumn("REASON"),
		},
		rows,
	)
}

func printDeadLetter(p *printer, d client.DeadLetter, done string) {
	if done != "" {
		see := "--event " + d.EventID
		if d.Machine != "" { // the event has another id here
			see = "--hook " + d.Hook
		}
		p.linef("%s: %s for %s, see `hookd log runs %s`", done, escape(d.Hook, keepNothing),
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

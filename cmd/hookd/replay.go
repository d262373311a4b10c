package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
)

func replayCommand(a *app) *cobra.Command {
	var hook string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "replay EVENT_ID",
		Short: "Run the hooks again for a past event",
		Long: `replay sends an event of the history again, under a new id. Its hooks of today run
and observe: no sender waits for a verdict any more. An event can be replayed when all
of its data was kept: when it has 2 KiB at most, 16 KiB of an event that was decided,
or with history.payload: full.`,
		Example: `  hookd replay 01JD --dry-run
  hookd replay 01JD --hook notify`,
		Args: one("EVENT_ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return show(a, cmd, func(ctx context.Context, c *client.Client) (client.Replayed, error) {
				return c.Replay(ctx, args[0], hook, dryRun)
			}, printReplayed)
		},
	}
	cmd.Flags().StringVar(&hook, "hook", "", "only this one")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only show which hooks would run")
	_ = cmd.RegisterFlagCompletionFunc("hook", hookNames(a))
	return cmd
}

func printReplayed(p *printer, r client.Replayed) {
	hooks := strings.Join(r.Matched, ", ")
	switch {
	case hooks == "":
		p.line("no hook runs for it today; see `hookd list`")
	case r.EventID == "":
		p.line("would run ", escape(hooks, keepNothing))
	default:
		p.hung(2, "runs ", escape(hooks, keepNothing), "; see `hookd log runs --event ", r.EventID, "`")
	}
	for _, w := range r.Warnings {
		p.line("warning: ", escape(w, keepNothing))
	}
}

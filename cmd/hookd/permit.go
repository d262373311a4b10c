package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
)

func permitCommand(a *app) *cobra.Command {
	scope, once := "", false
	cmd := &cobra.Command{
		Use:   "permit CALL",
		Short: "Let the next call pass that is the same as a denied one",
		Long: `permit lifts a denial for the same call: the same tool with the same arguments, in the
same folder, by the same kind of agent. Without --for it counts once, within a day. It lifts
only what the guards say that have denied the call, while they do not change. Guards of a
policy stay. It stands in hookd's status until it ends, ` + "`hookd ask grants revoke`" + ` ends it before.
Only a person's terminal may do this, not a process of an agent.`,
		Example:           "  hookd permit 5HZD7Q\n  hookd permit 5HZD7Q --for 15m",
		Args:              one("CALL"),
		ValidArgsFunction: deniedCalls(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			if once && scope != "" {
				return fail(exitUsage, "leave out one of the two", "--once and --for say different things")
			}
			return showList(a, cmd, "permits", func(ctx context.Context, c *client.Client) ([]client.Grant, error) {
				return c.Permit(ctx, args[0], scope)
			}, printPermitted)
		},
	}
	cmd.Flags().StringVar(&scope, "for", "", "each time within so long, such as 15m; at most 24h")
	cmd.Flags().BoolVar(&once, "once", false, "once, which it is without --for")
	_ = cmd.RegisterFlagCompletionFunc("for", words("15m", "1h", "24h"))
	return cmd
}

// printPermitted names the permitted calls, and how to end each permit.
func printPermitted(p *printer, list []client.Grant) {
	for _, g := range list {
		p.linef("%s may pass %s until %s:", numbered(g), g.Hook, clockTime(g.Until))
		in := ""
		if g.Cwd != "" {
			in = " in " + tilde(g.Cwd) + ","
		}
		p.linef("  %s,%s by %s", covered(g), in, g.Dialect)
	}
	if len(list) > 0 {
		p.linef("End it now: hookd ask grants revoke %s", ending(list[0].ID))
	}
}

// numbered says how often a permit counts.
func numbered(g client.Grant) string {
	if g.Scope == "once" {
		return "One such call"
	}
	return "Each such call"
}

// clockTime is a time to come as people say it: one of another day that is far off has its date.
func clockTime(t time.Time) string {
	if time.Until(t) < 18*time.Hour {
		return t.Local().Format("15:04")
	}
	return t.Local().Format("2 Jan 15:04")
}

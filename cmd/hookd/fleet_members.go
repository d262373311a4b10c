package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/fleet/engine"
)

func fleetAccountsCommand(a *app) *cobra.Command {
	tenant, operators, machines := "default", "operators.conf", "machines.conf"
	cmd := &cobra.Command{
		Use:   "accounts",
		Short: "Print the accounts of a tenant for a NATS server's configuration",
		Long: `accounts prints two accounts for the part "accounts" of a server's configuration. One has
the streams and the operators. The other has the machines, and imports services of the
first: no machine can have the server publish into a stream for it.`,
		Example: "  hookd fleet accounts >/etc/nats/accounts.conf",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			names := fleet.Names{Tenant: tenant, Machine: operatorName}
			if err := names.Check(); err != nil {
				return fail(exitUsage, "", "%w", err)
			}
			text := names.Accounts(operators, machines)
			return a.print(map[string]string{"accounts": text}, func(p *printer) {
				p.line(strings.TrimSuffix(text, "\n"))
			})
		},
	}
	cmd.Flags().StringVar(&tenant, "tenant", tenant, "fleet.tenant of the machines")
	cmd.Flags().StringVar(&operators, "operators", operators, "file with the entries of the operators")
	cmd.Flags().StringVar(&machines, "machines", machines, "file with the entries of the machines")
	return cmd
}

func fleetQueueCommand(a *app) *cobra.Command {
	var creds string
	var remove bool
	cmd := &cobra.Command{
		Use:   "queue HOOK...",
		Short: "Make the queues from which workers take events, with an operator's key",
		Long: `queue makes what workers take the events for a hook of scope fleet from. Only an operator
can make that. The servers take events for hooks with a queue alone: others wait on their machines.
Type it again after an upgrade of hookd. With --remove it deletes queues of hooks that are gone:
their events stay in the stream for 14 days.`,
		Example: "  hookd fleet queue index-what-agents-did --creds operator.nk",
		Args:    atLeastOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			made := func(ctx context.Context, p engine.Press, n fleet.Names) error {
				return n.MakeQueues(ctx, p, args...)
			}
			removed := func(ctx context.Context, p engine.Press, n fleet.Names) error {
				return n.RemoveQueues(ctx, p, args...)
			}
			if remove {
				return asOperator(a, cmd, creds, "removed", args, removed)
			}
			return asOperator(a, cmd, creds, "queues", args, made)
		},
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "delete the queues instead")
	credsFlag(cmd, &creds)
	return cmd
}

func fleetForgetCommand(a *app) *cobra.Command {
	var creds string
	cmd := &cobra.Command{
		Use:   "forget MACHINE...",
		Short: "Delete the records of machines that do not return, with an operator's key",
		Long: `forget deletes what machines have said of themselves, so that no list shows them as away, and
their events that the servers still have. Their decisions stay in the log for its 7 days.
Revoke their keys first, see ` + "`hookd fleet users`" + `: a machine that still may comes back.`,
		Example: "  hookd fleet forget laptop-7 --creds operator.nk",
		Args:    atLeastOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			forget := func(ctx context.Context, p engine.Press, n fleet.Names) error {
				for _, n.Machine = range args {
					if err := n.Check(); err != nil {
						return err
					}
					for stream, pattern := range n.Subjects() {
						if err := p.Purge(ctx, stream, pattern); err != nil {
							return fmt.Errorf("%s: %w", n.Machine, err)
						}
					}
				}
				return nil
			}
			return asOperator(a, cmd, creds, "forgotten", args, forget)
		},
	}
	credsFlag(cmd, &creds)
	return cmd
}

func credsFlag(cmd *cobra.Command, creds *string) {
	cmd.Flags().StringVar(creds, "creds", "", "file of the operator's key")
	_ = cmd.MarkFlagRequired("creds")
	_ = cmd.MarkFlagFilename("creds")
}

// asOperator does something on the servers with an operator's key, and prints the names as done.
func asOperator(
	a *app, cmd *cobra.Command, creds, done string, names []string,
	do func(context.Context, engine.Press, fleet.Names) error,
) error {
	cfg, err := fleetConfig(cmd)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), initTime)
	defer cancel()
	b, end, err := dialServers(ctx, cfg, creds, operatorName)
	if err == nil {
		defer end()
		err = do(ctx, b, fleet.Names{Tenant: cfg.Fleet.Tenant, Machine: operatorName})
	}
	if err != nil {
		return fail(exitFailed, "see that the servers run, and that the key is an operator's", "%w", err)
	}
	return a.print(map[string][]string{done: names}, func(p *printer) {
		p.line(done, ": ", strings.Join(names, " "))
	})
}

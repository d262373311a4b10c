package main

import (
	"context"
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
		Args:    cobra.NoArgs,
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

func fleetEnrollCommand(a *app) *cobra.Command {
	var creds string
	cmd := &cobra.Command{
		Use:   "enroll MACHINE...",
		Short: "Make the consumers of machines, with an operator's key",
		Long: `enroll makes what each machine takes its events and answers from. A machine cannot make
that with its own key. After an upgrade of hookd it brings them up to date.`,
		Example: "  hookd fleet enroll laptop-7 --creds operator.nk",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			enroll := func(ctx context.Context, p engine.Press, n fleet.Names) error {
				return p.Enroll(ctx, n.Consumers())
			}
			return a.members(cmd, creds, args, "enrolled", enroll)
		},
	}
	credsFlag(cmd, &creds)
	return cmd
}

func fleetForgetCommand(a *app) *cobra.Command {
	var creds string
	cmd := &cobra.Command{
		Use:   "forget MACHINE...",
		Short: "Delete the consumers of machines that are gone, with an operator's key",
		Long: `forget deletes what a machine takes its events and answers from. Take the entry of the
machine out of the servers' configuration first: then its key is worth nothing.`,
		Example: "  hookd fleet forget laptop-7 --creds operator.nk",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			forget := func(ctx context.Context, p engine.Press, n fleet.Names) error {
				return p.Forget(ctx, n.Consumers())
			}
			return a.members(cmd, creds, args, "forgotten", forget)
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

// members does something with each of machines, as an operator, and prints it as done.
func (a *app) members(
	cmd *cobra.Command, creds string, machines []string, done string,
	do func(context.Context, engine.Press, fleet.Names) error,
) error {
	cfg, err := fleetConfig(cmd)
	if err != nil {
		return err
	}
	for _, machine := range machines {
		if err := (fleet.Names{Tenant: cfg.Fleet.Tenant, Machine: machine}).Check(); err != nil {
			return fail(exitUsage, "", "%w", err)
		}
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), initTime)
	defer cancel()
	b, end, err := dialServers(ctx, cfg, creds, operatorName)
	if err != nil {
		return fail(exitFailed, "see that the servers run, and that the key is an operator's", "%w", err)
	}
	defer end()
	for _, machine := range machines {
		if err := do(ctx, b, fleet.Names{Tenant: cfg.Fleet.Tenant, Machine: machine}); err != nil {
			return fail(exitFailed, "see that the servers run, and that the key is an operator's", "%s: %w", machine, err)
		}
	}
	return a.print(map[string][]string{done: machines}, func(p *printer) {
		for _, machine := range machines {
			p.line(machine, " is ", done)
		}
	})
}

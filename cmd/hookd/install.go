package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/people/service"
)

func installCommand(a *app) *cobra.Command {
	var dry, hardened bool
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Run hookd as a service of your user",
		Long: `install writes the files that systemd (or launchd, on macOS) needs to run hookd for
your user, with the path of this program and the PATH of this shell, and starts the
service, again if it runs. systemd holds the socket: events that come while hookd
restarts wait there. Typing it again is harmless, and right after an upgrade.

A program in a temporary folder, or a file that others could replace, is refused, and so
is a folder of units that others can write to. The files are readable by you alone, as
variables may hold keys. Where no service manager answers, nothing is written.
LIBREFANG_HOME and HOOKD_ variables that are set become the service's. What you
change belongs in a drop-in: ` + "`systemctl --user edit hookd`" + `.

With --system, behind sudo, it makes the system daemon a service: a user of its own,
/etc/hookd with settings, a sandboxed unit and its socket. See docs/reference/system.md.`,
		Example: `  hookd install --dry-run
  hookd install
  sudo hookd install --system`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return install(a, cmd, dry, hardened) },
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the files and commands, and do nothing")
	cmd.Flags().BoolVar(&hardened, "hardened", false, "systemd: hookd and its hooks cannot gain rights (no sudo in hooks)")
	return cmd
}

func uninstallCommand(a *app) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Undo `hookd install`",
		Long: `uninstall stops the service and removes the files that ` + "`hookd install`" + ` wrote. Your
hooks, settings and history stay, and so do your own drop-ins.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return uninstall(a, cmd, dry) },
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the files and commands, and do nothing")
	return cmd
}

func install(a *app, cmd *cobra.Command, dry, hardened bool) error {
	m, err := machineOf(cmd)
	if err != nil {
		return err
	}
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	p, err := m.Install(service.Options{Config: cfg, Given: given(cmd), Path: os.Getenv("PATH"), Hardened: hardened})
	if err != nil {
		return err
	}
	if p.DryRun = dry; dry {
		return a.print(p, func(out *printer) { printServicePlan(out, p) })
	}
	err = p.Install(cmd.Context(), func() int { return runsAlready(a, cmd) })
	if err == nil || errors.Is(err, service.ErrUnreachable) {
		err = errors.Join(a.print(p, func(out *printer) { printInstalled(out, p) }), err)
	}
	return err
}

// runsAlready returns the pid of a daemon that answers, 0 for none.
func runsAlready(a *app, cmd *cobra.Command) int {
	ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
	defer cancel()
	st, err := a.dial(cmd).Status(ctx)
	if err != nil {
		return 0
	}
	return st.PID
}

// machineOf is the machine for its user's service, or for the system daemon's.
func machineOf(cmd *cobra.Command) (*service.Machine, error) {
	if ofSystem(cmd) {
		return service.System()
	}
	return service.This()
}

func uninstall(a *app, cmd *cobra.Command, dry bool) error {
	m, err := machineOf(cmd)
	if err != nil {
		return err
	}
	p, err := m.Uninstall()
	if err != nil {
		return err
	}
	if len(p.Files) == 0 {
		p.DryRun = dry
		return a.print(p, func(out *printer) { out.lines(p.Notes) })
	}
	if p.DryRun = dry; dry {
		return a.print(p, func(out *printer) { printServicePlan(out, p) })
	}
	if err := p.Uninstall(cmd.Context()); err != nil {
		return err
	}
	return a.print(p, func(out *printer) { printInstalled(out, p) })
}

// printServicePlan prints the changes that would be made.
func printServicePlan(p *printer, plan *service.Plan) {
	for _, c := range plan.Files {
		p.linef("# %s (%s)", c.Path, c.State)
		if c.Text != "" {
			p.line(escape(c.Text, keepNewlines))
		}
	}
	for _, s := range plan.Commands {
		p.linef("$ %s", s)
	}
	p.lines(plan.Notes)
}

// printInstalled prints the changes that were made.
func printInstalled(p *printer, plan *service.Plan) {
	for _, c := range plan.Files {
		p.linef("%-9s  %s", c.State, c.Path)
	}
	for _, s := range plan.Commands {
		p.linef("%-9s  %s", "ran", s)
	}
	p.lines(plan.Notes)
}

func (p *printer) lines(list []string) {
	for _, line := range list {
		p.linef("%s", line)
	}
}

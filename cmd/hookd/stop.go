package main

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookd/hookd/internal/people/service"
	"github.com/hookd/hookd/internal/proc"
)

func stopCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "Stop the daemon, once what runs has ended",
		Long: `stop asks the daemon to end, and waits until it has: runs that are under way end
first, what waits is kept for the next start. A service is stopped by its manager,
which would start it again otherwise; it comes back at the next login. Until hookd
runs again no hook guards anything: ` + "`hookd uninstall`" + ` removes the service.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return stop(a, cmd) },
	}
}

func restartCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restart",
		Short: "Stop the daemon and start it again",
		Long: `restart stops the daemon as hookd stop does, and starts it again: as the service that it was, else
in the background, with the settings of this shell. It returns once hookd answers. A change of hooks
or of hookd.yaml needs no restart: see hookd reload.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return restart(a, cmd) },
	}
	settingFlags(cmd)
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	return cmd
}

// restarted is the answer of restart.
type restarted struct {
	Was     int    `json:"was"` // pid
	PID     int    `json:"pid"`
	Service bool   `json:"service"`       // false = it runs in the background
	Log     string `json:"log,omitempty"` // of a daemon in the background
}

func restart(a *app, cmd *cobra.Command) error {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	m, err := machineOf(cmd)
	if err != nil {
		return err
	}
	ctx, cancel := a.answer(cmd)
	defer cancel()
	st, err := a.dial(cmd).Status(ctx)
	if err != nil {
		return err
	}
	done := restarted{Was: st.PID}
	if done.Service, err = m.Restart(ctx, st.PID); err != nil {
		return err
	}
	var d *service.Process
	if !done.Service {
		if _, err := endDaemon(a, cmd, nil); err != nil {
			return err
		}
		if d, err = background(cmd, m, cfg); err != nil {
			return err
		}
	}
	if err := awaitReady(a, cmd, d); err != nil {
		return err
	}
	if done.PID = runsAlready(a, cmd); d != nil {
		done.Log = d.Log
	}
	return a.print(done, func(p *printer) {
		if done.Service {
			p.linef("hookd runs again, as a service (pid %d)", done.PID)
			return
		}
		p.linef("hookd runs again, in the background (pid %d); its log: %s", done.PID, tilde(done.Log))
	})
}

// stopped is the answer of stop.
type stopped struct {
	PID     int    `json:"pid"`
	Service string `json:"service,omitempty"` // the command that stopped it; "" = a signal did
}

func stop(a *app, cmd *cobra.Command) error {
	m, _ := machineOf(cmd) // without one it is no service
	done, err := endDaemon(a, cmd, m)
	if err != nil {
		return err
	}
	return a.print(done, func(p *printer) {
		p.linef("hookd has stopped (pid %d); start it with `%s`", done.PID, startAgain(done))
	})
}

// endDaemon stops the daemon and waits until it has ended. m is nil where there is no service manager.
func endDaemon(a *app, cmd *cobra.Command, m *service.Machine) (done stopped, err error) {
	ctx, cancel := a.answer(cmd)
	defer cancel()
	st, err := a.dial(cmd).Status(ctx)
	if err != nil {
		return done, err
	}
	done.PID = st.PID
	if m != nil {
		if done.Service, err = m.Stop(ctx, st.PID); err != nil {
			return done, err
		}
	}
	if done.Service == "" {
		if err := syscall.Kill(st.PID, syscall.SIGTERM); err != nil {
			return done, fail(exitFailed, fmt.Sprintf("type `kill %d` as the user that hookd runs as", st.PID),
				"stop the daemon, pid %d: %w", st.PID, err)
		}
	}
	return done, awaitEnd(ctx, st.PID)
}

func startAgain(done stopped) string {
	if done.Service == "" {
		return "hookd daemon start"
	}
	return "hookd daemon install"
}

// toStart is the hint that starts hookd as it is run on this machine: as a service where one is installed, also if it
// was stopped, else in a terminal.
func toStart() string {
	how := stopped{}
	if m, err := service.This(); err == nil && m.Installed() {
		how.Service = "installed"
	}
	return "start it with `" + startAgain(how) + "`"
}

// awaitEnd waits until a process has ended.
func awaitEnd(ctx context.Context, pid int) error {
	for {
		if proc.Ended(pid) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fail(exitNoAnswer, "see what still runs with `hookd log running`, or allow more with --answer-within",
				"hookd, pid %d, has not ended yet", pid)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

package main

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"

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
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return stop(a, cmd) },
	}
}

// stopped is the answer of stop.
type stopped struct {
	PID     int    `json:"pid"`
	Service string `json:"service,omitempty"` // the command that stopped it; "" = a signal did
}

func stop(a *app, cmd *cobra.Command) error {
	ctx, cancel := a.answer(cmd)
	defer cancel()
	st, err := a.dial(cmd).Status(ctx)
	if err != nil {
		return err
	}
	done := stopped{PID: st.PID}
	if m, err := service.This(); err == nil {
		if done.Service, err = m.Stop(ctx, st.PID); err != nil {
			return err
		}
	}
	if done.Service == "" {
		if err := syscall.Kill(st.PID, syscall.SIGTERM); err != nil {
			return fail(exitFailed, fmt.Sprintf("type `kill %d` as the user that hookd runs as", st.PID),
				"stop the daemon, pid %d: %w", st.PID, err)
		}
	}
	if err := awaitEnd(ctx, st.PID); err != nil {
		return err
	}
	return a.print(done, func(p *printer) {
		p.linef("hookd has stopped (pid %d); start it with `%s`", st.PID, startAgain(done))
	})
}

func startAgain(done stopped) string {
	if done.Service == "" {
		return "hookd serve"
	}
	return "hookd install"
}

// awaitEnd waits until a process has ended.
func awaitEnd(ctx context.Context, pid int) error {
	for {
		if proc.Ended(pid) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fail(exitNoAnswer, "see what still runs with `hookd ps`, or allow more with --answer-within",
				"hookd, pid %d, has not ended yet", pid)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

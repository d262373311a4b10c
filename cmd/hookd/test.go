package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/convert"
	"github.com/hookd/hookd/internal/daemon"
	"github.com/hookd/hookd/internal/events"
)

func testCommand(a *app) *cobra.Command {
	var ev eventFlags
	var event string
	var local bool
	cmd := &cobra.Command{
		Use:   "test HOOK",
		Short: "Run one hook now and show everything that it did",
		Long: `test runs one hook for an event, the hook's own first one unless --event names
another, and prints what it was given, what it printed and how that is read.
Nothing is sent to other hooks. With --local no daemon is needed, and HOOK may
be a folder. The exit code is 1 when the hook failed or denied, or
would not run for such an event.`,
		Example: `  hookd test notify-on-agent-end
  hookd test guard-rm --event pre_tool_use --data '{"tool_name":"shell","tool_input":{"cmd":"rm -rf /"}}'
  hookd test ./my-hook --local`,
		Args:              one("HOOK"),
		ValidArgsFunction: hookNames(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			env, err := ev.envelope(a, event)
			if err != nil {
				return err
			}
			try := tryRemote
			if local {
				try = tryLocal
			}
			tested, err := try(a, cmd, args[0], env)
			if err != nil {
				return err
			}
			if err := a.print(tested, func(p *printer) { p.tested(tested) }); err != nil {
				return err
			}
			if tested.Run.Result != client.ResultOK || tested.Why != "" ||
				tested.Verdict != nil && !tested.Verdict.Allowed {
				return said(exitFailed)
			}
			return nil
		},
	}
	ev.addTo(cmd)
	cmd.Flags().StringVar(&event, "event", "", "the event's name (default: the hook's first)")
	cmd.Flags().BoolVar(&local, "local", false, "run it here, without a daemon; HOOK may be a folder")
	settingFlags(cmd, "hooks_dir")
	_ = cmd.RegisterFlagCompletionFunc("event", eventNames(a))
	return cmd
}

func tryRemote(a *app, cmd *cobra.Command, name string, env events.Envelope) (client.TestResult, error) {
	tested, err := a.dial(cmd).Test(cmd.Context(), name, convert.Event(env))
	if errors.Is(err, client.ErrNotRunning) {
		return tested, fail(
			exitNotRunning,
			"start it with `hookd serve`, or test without it: `hookd test "+name+" --local`",
			"%w",
			err,
		)
	}
	return tested, err
}

// tryLocal runs the hook in this process; Ctrl-C kills it.
func tryLocal(_ *app, cmd *cobra.Command, name string, env events.Envelope) (client.TestResult, error) {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return client.TestResult{}, err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	tested, err := daemon.TestLocal(ctx, cfg, name, env)
	switch {
	case err == nil:
		return convert.TestResult(tested)
	case convert.Error(err) == nil && !errors.Is(err, context.Canceled):
		err = fail(exitRejected, "see what is wrong with `hookd validate`", "%w", err)
	}
	return client.TestResult{}, err
}

func (p *printer) tested(t client.TestResult) {
	p.run(t.Run)
	p.line(p.paint(bold, "stdin"), fmt.Sprintf(" %d bytes", len(t.Stdin)))
	if t.Stdin != "" {
		p.block(shorten(t.Stdin, 4096))
	}
	if t.Warning != "" {
		p.line(p.paint(yellow, "warning:"), " ", escape(t.Warning, keepNothing))
	}
	if t.Why != "" {
		p.linef("for a real event like this the hook would not run: %s", t.Why)
	}
	switch {
	case t.Verdict != nil && t.Decides:
		p.line(p.paint(bold, "verdict"), ", were it the only hook:")
		p.verdict(t.Verdict, false)
	default:
		p.line(p.paint(bold, "verdict"), " none: for this event the hook observes")
	}
}

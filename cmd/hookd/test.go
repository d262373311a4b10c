package main

import (
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/run/rehearse"
)

func testCommand(a *app) *cobra.Command {
	t := tester{a: a}
	cmd := &cobra.Command{
		Use:   "test [HOOK|CALL]",
		Short: "Run a hook's tests, or run it once and show everything that it did",
		Long: `test runs the tests in the hook's HOOK.yaml and prints a table of their
outcomes; the exit code is 1 when one is not as expected. --all does so for every hook.

For an event that --event, --data or --from names, and where the hook has no tests,
it runs the hook once and prints what it was given, what it printed and how that is
read; the exit code is 1 when the hook failed or denied, or would not run for such an
event. Nothing is sent to other hooks. With --local no daemon is needed, and HOOK may
be a folder.

With --expect it runs nothing: it adds a call of the history as a test to the guard that
decided about it, such as a call that was denied and should not have been.`,
		Example: `  hookd test guard-rm
  hookd test --all
  hookd test ./guard-rm --local --watch
  hookd test guard-rm --event pre_tool_use \
    --data '{"tool_name":"shell","tool_input":{"cmd":"rm -rf /"}}'
  hookd test guard-rm --from 01JD
  hookd guard test 5HZD7Q --expect none`,
		Args:              t.check,
		ValidArgsFunction: hookNames(a),
		RunE:              t.run,
	}
	t.ev.addTo(cmd)
	cmd.Flags().StringVar(&t.event, "event", "", "run it once, for this event (default: the hook's first)")
	cmd.Flags().StringVar(&t.from, "from", "", "run it once, for this event of the history")
	cmd.Flags().StringVar(&t.expect, "expect", "", "add CALL as a test that expects this: "+
		strings.Join(hook.Expectations(), ", "))
	cmd.Flags().BoolVar(&t.all, "all", false, "run the tests of every hook; show the tests that fail")
	cmd.Flags().BoolVar(&t.watch, "watch", false, "run the tests again each time that the hook is saved, until Ctrl-C")
	cmd.Flags().BoolVar(&t.local, "local", false, "run it here, without a daemon; HOOK may be a folder")
	settingFlags(cmd, "hooks_dir")
	_ = cmd.RegisterFlagCompletionFunc("event", eventNames(a))
	return cmd
}

// tester is one call of test.
type tester struct {
	a                 *app
	ev                eventFlags
	event, from       string
	expect            string
	all, watch, local bool
}

// check names the parts of the command line that do not fit together.
func (t *tester) check(cmd *cobra.Command, args []string) error {
	switch {
	case t.expect != "" && !slices.Contains(hook.Expectations(), t.expect):
		return fmt.Errorf("--expect %q: there are %s", t.expect, strings.Join(hook.Expectations(), ", "))
	case t.expect != "":
		return one("CALL")(cmd, args)
	case t.all && len(args) > 0:
		return errors.New("--all runs the tests of every hook: leave " + args[0] + " out, or --all")
	case t.all && t.watch:
		return errors.New("--watch is for one hook")
	case (t.all || t.watch) && t.single(cmd):
		return errors.New("an event is for one run of one hook: leave it out, or --all and --watch")
	case t.from != "" && (t.event != "" || t.ev.data != ""):
		return errors.New("--from is an event of its own: leave --event and --data out")
	case t.all:
		return nil
	}
	return one("HOOK")(cmd, args)
}

func (t *tester) run(cmd *cobra.Command, args []string) error {
	if t.expect != "" {
		return addTest(t.a, cmd, args[0], t.expect)
	}
	var s suites = remoteSuites{t.a.dial(cmd)}
	if t.local {
		s = localSuites{cmd}
	}
	switch {
	case t.all:
		return testAll(t.a, cmd, s)
	case t.watch:
		return testWatch(t.a, cmd, s, args[0])
	case !t.single(cmd):
		if tested, err := testSuite(t.a, cmd, s, args[0]); tested {
			return err
		}
	}
	return t.once(cmd, args[0])
}

// single reports whether an event was named to run the hook for.
func (t *tester) single(cmd *cobra.Command) bool {
	return slices.ContainsFunc(
		[]string{"event", "data", "from", "lane", "cwd", "agent-name", "dialect"},
		cmd.Flags().Changed,
	)
}

// once runs the hook for one event and prints everything that it did.
func (t *tester) once(cmd *cobra.Command, hook string) error {
	env, err := t.envelope(cmd)
	if err != nil {
		return err
	}
	try := tryRemote
	if t.local {
		try = tryLocal
	}
	tested, err := try(t.a, cmd, hook, env)
	if err != nil {
		return err
	}
	if err := t.a.print(tested, func(p *printer) { printTested(p, tested) }); err != nil {
		return err
	}
	if tested.Run.Result != client.ResultOK || tested.Why != "" ||
		tested.Verdict != nil && !tested.Verdict.Allowed {
		return said(exitFailed)
	}
	return nil
}

// envelope is the event that was named: typed, or of the history.
func (t *tester) envelope(cmd *cobra.Command) (events.Envelope, error) {
	if t.from == "" {
		return t.ev.envelope(t.a, t.event)
	}
	ctx, cancel := t.a.answer(cmd)
	defer cancel()
	past, err := t.a.dial(cmd).Event(ctx, t.from)
	switch {
	case err != nil:
		return events.Envelope{}, err
	case !past.Whole:
		return events.Envelope{}, fail(exitFailed, "keep more with `history.payload: full` in hookd.yaml",
			"not all of the data of event %s was kept", past.EventID)
	}
	if past.Redacted {
		fmt.Fprintln(t.a.errOut, "warning: secrets were taken out of this event before it was kept")
	}
	return events.Received(past.Envelope), nil
}

func tryRemote(a *app, cmd *cobra.Command, name string, env events.Envelope) (client.TestResult, error) {
	tested, err := a.dial(cmd).Test(cmd.Context(), name, env.Sent())
	return tested, orLocal(err, name)
}

// tryLocal runs the hook in this process; Ctrl-C kills it.
func tryLocal(_ *app, cmd *cobra.Command, name string, env events.Envelope) (client.TestResult, error) {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return client.TestResult{}, err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	tested, err := rehearse.TryLocal(ctx, cfg, name, env)
	if err == nil {
		return tested, nil
	}
	return client.TestResult{}, rejectedLocally(err)
}

func printTested(p *printer, t client.TestResult) {
	printRun(p, t.Run)
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
		printVerdict(p, t.Verdict, false)
	default:
		p.line(p.paint(bold, "verdict"), " none: for this event the hook observes")
	}
}

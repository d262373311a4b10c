package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
)

// app is what all commands share: where they read and write, and the global
// flags.
type app struct {
	in     *os.File
	out    *os.File
	errOut *os.File

	format string        // table, wide, json
	within time.Duration // how long the daemon may take to answer
	line   []string      // the command line, without the program
	ready  bool          // the command line was understood: later errors are no usage errors
}

func newApp(in, out, errOut *os.File) *app { return &app{in: in, out: out, errOut: errOut} }

// run executes one command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := newRoot(a)
	a.line = args
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.errOut)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if !a.ready {
		err = usage(cmd, err)
	}
	return a.report(err)
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "hookd",
		Short: "Run people's hooks for AI agents",
		Long: `hookd runs hooks for AI agents: a folder with a HOOK.yaml in ~/.librefang/hooks
runs whenever an event that it asks for is sent to the daemon's socket.`,
		Example: `  hookd init                       set it up: agents, first hooks, a service
  hookd serve                      run the daemon
  hookd new hello --lang sh        make a hook
  hookd emit agent:end --data '{}' send an event
  hookd history                    see what ran`,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			a.ready = true
			return a.checkFormat()
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(&cobra.Command{Hidden: true})
	flags := root.PersistentFlags()
	flags.StringVarP(&a.format, "output", "o", "table", "table, wide or json")
	flags.String("socket", "", "the daemon's socket (default ~/.librefang/hookd.sock)")
	flags.DurationVar(&a.within, "answer-within", 30*time.Second, "give up, with exit code 4, when the daemon has not answered by then")
	_ = root.RegisterFlagCompletionFunc("output", words("table", "wide", "json"))
	root.AddCommand(
		initCommand(a), serveCommand(a), emitCommand(a), tailCommand(a),
		listCommand(a), showCommand(a), matchCommand(a), validateCommand(a),
		newCommand(a), testCommand(a), enableCommand(a), disableCommand(a), allowCommand(a),
		addCommand(a), updateCommand(a), outdatedCommand(a), removeCommand(a), trustCommand(a),
		reloadCommand(a), statusCommand(a), doctorCommand(a), historyCommand(a), logsCommand(a), statsCommand(a),
		replayCommand(a), dlqCommand(a),
		eventsCommand(a), snapshotsCommand(a), bridgeCommand(a), connectCommand(a), disconnectCommand(a),
		tokenCommand(a),
		installCommand(a), uninstallCommand(a), completionCommand(a), versionCommand(a),
		importCommand(a), schemaCommand(a), manCommand(),
	)
	return root
}

func (a *app) checkFormat() error {
	switch a.format {
	case "table", "wide", "json":
		return nil
	}
	return fail(exitUsage, "type -o table, -o wide or -o json", "unknown output format %q", a.format)
}

// dial returns a client for the daemon that the settings name. Nothing is
// connected yet.
func (a *app) dial(cmd *cobra.Command) *client.Client {
	return client.New(client.Options{Socket: socketOf(cmd)})
}

// answer bounds one question to the daemon.
func (a *app) answer(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	return context.WithTimeout(cmd.Context(), a.within)
}

// isTerminal reports whether f may be a terminal: it is a character device
// and not the null device.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// one wants exactly one argument, and says what it is.
func one(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return fmt.Errorf("%s wants one %s, none is given", cmd.Name(), what)
		case len(args) > 1:
			return fmt.Errorf("%s wants one %s, %d are given", cmd.Name(), what, len(args))
		}
		return nil
	}
}

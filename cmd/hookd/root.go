package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/base/system"
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
	if ofSystem(cmd) {
		err = errors.Join(err, letDaemonRead(system.Here()))
	}
	if err == nil {
		return exitOK
	}
	if !a.ready {
		if wantsJSON(args) { // the flags may not have been read
			a.format = "json"
		}
		err = usage(cmd, err)
	}
	return a.report(err)
}

// wantsJSON reports whether -o json stands in a command line.
func wantsJSON(args []string) bool {
	for i, arg := range args {
		switch arg {
		case "-ojson", "-o=json", "--output=json":
			return true
		case "-o", "--output":
			if i+1 < len(args) && args[i+1] == "json" {
				return true
			}
		}
	}
	return false
}

func newRoot(a *app) *cobra.Command {
	cobra.EnableCommandSorting = false // in the order in which a person needs them
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
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			a.ready = true
			shareSystem(cmd)
			if err := a.checkFormat(); err != nil {
				return err
			}
			return a.mayWeaken(cmd, args)
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	flags := root.PersistentFlags()
	flags.StringVarP(&a.format, "output", "o", "table", "table, wide or json")
	flags.String("socket", "", "the daemon's socket (default ~/.librefang/hookd.sock)")
	flags.Bool(systemFlag, false, "the system daemon's hooks and settings, not your own (behind sudo)")
	a.within = 30 * time.Second
	flags.Var(
		(*duration.Value)(&a.within),
		"answer-within",
		"give up, with exit code 4, when the daemon has not answered by then",
	)
	_ = root.RegisterFlagCompletionFunc("output", words("table", "wide", "json"))
	root.Flags().Bool("version", false, "print the version")
	root.SetVersionTemplate("{{.Version}}\n")
	root.Version = build().String()
	for _, g := range groups(a) {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, c := range g.commands {
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID("More")
	root.SetHelpFunc(a.help)
	return root
}

// group is a part of the list of commands in --help.
type group struct {
	title    string
	commands []*cobra.Command
}

func groups(a *app) []group {
	return []group{
		{"First steps", []*cobra.Command{
			initCommand(a), scanCommand(a), learnCommand(a), newCommand(a), guardCommand(a), testCommand(a), whatIfCommand(a),
			emitCommand(a),
			doctorCommand(a), boxCommand(a),
		}},
		{"Look", []*cobra.Command{
			asksCommand(a), uiCommand(a),
			statusCommand(a), listCommand(a), showCommand(a), matchCommand(a), factsCommand(a), decisionsCommand(a),
			sessionsCommand(a), auditCommand(a),
			historyCommand(a), logsCommand(a), tailCommand(a), psCommand(a), topCommand(a), statsCommand(a),
			metricsCommand(a),
			eventsCommand(a), configCommand(a),
		}},
		{"Change", []*cobra.Command{
			editCommand(a), validateCommand(a), allowCommand(a), enableCommand(a), disableCommand(a), rmCommand(a),
			answerAskCommand(a, "allow-ask", client.OutcomeAllow, "Allow a call that a hook asks about"),
			answerAskCommand(a, "deny-ask", client.OutcomeDeny, "Deny a call that a hook asks about"),
			grantsCommand(a), undoCommand(a),
			killCommand(a), replayCommand(a), dlqCommand(a), recoverCommand(a),
			snapshotsCommand(a),
		}},
		{"Share", []*cobra.Command{
			addCommand(a), updateCommand(a), outdatedCommand(a), removeCommand(a), trustCommand(a), importCommand(a),
			bundleCommand(a), policyCommand(a), fleetCommand(a),
		}},
		{"Agents", []*cobra.Command{
			connectCommand(a), disconnectCommand(a), bridgeCommand(a), mcpCommand(a), tokenCommand(a),
		}},
		{"Service", []*cobra.Command{
			serveCommand(a), runCommand(a), stopCommand(a), reloadCommand(a), installCommand(a), uninstallCommand(a),
		}},
		{"More", []*cobra.Command{schemaCommand(a), completionCommand(a), versionCommand(a), manCommand()}},
	}
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
	return client.New(client.Options{Socket: socketOf(cmd), Door: "command"})
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

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/base/system"
)

// app has the parts that all commands share: where they read and write, and the global
// flags.
type app struct {
	in     *os.File
	out    *os.File
	errOut *os.File

	format   string        // table, wide, json
	json     bool          // --json
	keys     chan string   // of the terminal; nil = it was not read yet
	patience time.Duration // how long the daemon may take to answer
	line     []string      // the command line, without the program
	limit    int           // of a list; 0 = all
	ready    bool          // the command line was understood: later errors are no usage errors

	unknown error // --help stands behind a word that is no command
}

func newApp(in, out, errOut *os.File) *app { return &app{in: in, out: out, errOut: errOut} }

// run executes one command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	a.line = args
	line := helpLast(viewed(args))
	cmd, err := a.execute(ctx, rootFor(a, line), line)
	if err != nil && !a.ready { // nothing has run: all commands together know which one is meant
		cmd, err = a.execute(ctx, newRoot(a), line)
	}
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
	return a.report(inFlags(cmd, err))
}

func (a *app) execute(ctx context.Context, root *cobra.Command, line []string) (*cobra.Command, error) {
	a.unknown = nil
	root.SetArgs(line)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.errOut)
	cmd, err := root.ExecuteContextC(ctx)
	return cmd, cmp.Or(err, a.unknown)
}

// helpLast makes `hookd guard x --deny --help` ask for help: --help is no value of the flag before it.
func helpLast(args []string) []string {
	end := len(args)
	if i := slices.Index(args, "--"); i >= 0 {
		end = i
	}
	i := slices.Index(args[:end], "--help")
	if i < 1 || !strings.HasPrefix(args[i-1], "--") || strings.Contains(args[i-1], "=") {
		return args
	}
	return append(slices.Clone(args[:i-1]), "--help")
}

// wantsJSON reports whether -o json stands in a command line.
func wantsJSON(args []string) bool {
	for i, arg := range args {
		switch arg {
		case "-ojson", "-o=json", "--output=json", "--json":
			return true
		case "-o", "--output":
			if i+1 < len(args) && args[i+1] == "json" {
				return true
			}
		}
	}
	return false
}

// newRoot makes all commands.
func newRoot(a *app) *cobra.Command { return rootFor(a, nil) }

// rootFor makes the commands of makersFor.
func rootFor(a *app, line []string) *cobra.Command {
	cobra.EnableCommandSorting = false // in the order in which a person needs them
	root := &cobra.Command{
		Use:   "hookd",
		Short: "Guard AI agents: what they run is asked about, boxed, kept or stopped",
		Long: `hookd guards AI agents: what they run is asked about, boxed, kept or stopped. Alone it
says how you are: which agents are guarded, what waits, what was stopped, what is wrong,
and what to type next. The exit code is 3 while an agent here is not guarded, or a denial
was not obeyed.`,
		Args:          noSuch,
		RunE:          func(cmd *cobra.Command, _ []string) error { return showOverview(a, cmd) },
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups()); err != nil {
				return err // cobra checks them after this, too late for the hint of usage
			}
			a.ready = true
			shareSystem(cmd)
			if a.json {
				a.format = "json"
			}
			if err := a.checkFormat(); err != nil {
				return err
			}
			return mayWeaken(a, cmd, args)
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	flags := root.PersistentFlags()
	flags.StringVarP(&a.format, "output", "o", "table", "table, wide, json or csv (of lists)")
	flags.BoolVar(&a.json, "json", false, "the same as -o json")
	flags.String("socket", "", "the daemon's socket (default ~/.librefang/hookd.sock)")
	flags.Bool(systemFlag, false, "the system daemon's hooks and settings, not your own (behind sudo)")
	a.patience = 30 * time.Second
	flags.Var(
		(*duration.Value)(&a.patience),
		"answer-within",
		"give up, with exit code 4, when the daemon has not answered by then",
	)
	_ = root.RegisterFlagCompletionFunc("output", words("table", "wide", "json", "csv"))
	root.Flags().Bool("version", false, "print the version")
	root.SetVersionTemplate("{{.Version}}\n")
	root.Version = build().String()
	groups, short := makersFor(line)
	for _, m := range groups {
		below(root, m.make(a))
	}
	for _, m := range short {
		c := m.make(a)
		c.Hidden = true
		root.AddCommand(c)
	}
	root.SetHelpCommand(helpCommand(a))
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd == root && len(cmd.Flags().Args()) == 0 {
			_, _ = a.out.WriteString(first(groupList()))
			return
		}
		printHelp(a, cmd, args)
	})
	return root
}

// group is a part of the list of commands in --help.
type group struct {
	title    string
	commands []maker
}

func (a *app) checkFormat() error {
	switch a.format {
	case "table", "wide", "json", "csv":
		return nil
	}
	return fail(exitUsage, "type -o table, -o wide, -o json or -o csv", "unknown output format %q", a.format)
}

// dial returns a client for the daemon that the settings name. Nothing is
// connected yet.
func (a *app) dial(cmd *cobra.Command) *client.Client {
	return client.New(client.Options{Socket: socketOf(cmd), Door: "command"})
}

// answer bounds one question to the daemon.
func (a *app) answer(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	return context.WithTimeout(cmd.Context(), a.patience)
}

// show asks the daemon one question and prints the answer.
func show[T any](
	a *app, cmd *cobra.Command, ask func(context.Context, *client.Client) (T, error), print func(*printer, T),
) error {
	ctx, cancel := a.answer(cmd)
	defer cancel()
	answer, err := ask(ctx, a.dial(cmd))
	if err != nil {
		return err
	}
	return a.print(answer, func(p *printer) { print(p, answer) })
}

// showList is show for a list, which JSON has under a name.
func showList[T any](
	a *app, cmd *cobra.Command, name string, ask func(context.Context, *client.Client) ([]T, error),
	print func(*printer, []T),
) error {
	return show(a, cmd, func(ctx context.Context, c *client.Client) (map[string][]T, error) {
		list, err := ask(ctx, c)
		return map[string][]T{name: upTo(list, a.limit)}, err
	}, func(p *printer, answer map[string][]T) { print(p, answer[name]) })
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

// one wants exactly one argument, and names that argument.
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

// noArgs wants no argument.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no argument, %q is given", cmd.Name(), args[0])
	}
	return nil
}

// atMostOne wants no argument, or the argument that the command's usage names.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%s takes one %s, %d are given", cmd.Name(), argument(cmd), len(args))
	}
	return nil
}

// atLeastOne wants the argument that the command's usage names, once or more.
func atLeastOne(cmd *cobra.Command, args []string) error {
	return one(argument(cmd))(cmd, args[:min(len(args), 1)])
}

// argument is the name of a command's first argument.
func argument(cmd *cobra.Command) string {
	name := strings.TrimSuffix(strings.Fields(cmd.Use)[1], "...")
	return strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
}

package bridge

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/agents/early"
	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/base/wordwrap"
	"github.com/hookd/hookd/internal/contract/dialect"
)

// exitFailed is the exit code of a usage error. It is not the usual 2: where an agent runs the command, that would
// deny.
const exitFailed = 1

// Usage is the help text of the command.
const Usage = `usage: hookd-bridge AGENT [EVENT] [flags]       answer an agent's own hook call
       hookd-bridge box [--profile NAME] -- PROGRAM [ARGUMENT…]
                                                run a program in a box

flags of AGENT:
  --fail-closed    deny what hookd guards when there is no verdict
  --ask=none       where a hook asks and the agent cannot, leave it to the agent
                   (default: deny)
  --timeout=30s    how long the agent waits (default: what that agent documents)
  --socket=PATH    hookd's socket
`

// Command runs a command line, without the program's name, and returns the
// exit code.
func Command(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return command(ctx, args, Options{Stdin: stdin, Stdout: stdout, Stderr: stderr})
}

// command is Command with the options that no argument gives.
func command(ctx context.Context, args []string, o Options) int {
	if len(args) == 0 || args[0] == "-h" || args[0] == "--help" || args[0] == "help" {
		fmt.Fprintf(o.Stderr, "%s\n%s\n", Usage, agentLines())
		return exitFailed
	}
	err := o.parse(args)
	return run(ctx, o, err)
}

// parse reads a command line that names an agent.
func (o *Options) parse(args []string) error {
	o.Agent = args[0]
	f := flags()
	f.BoolVar(&o.FailClosed, "fail-closed", false, "")
	f.StringVar(&o.Ask, "ask", AskDenies, "")
	f.Var((*duration.Value)(&o.Timeout), "timeout", "")
	f.StringVar(&o.Socket, "socket", "", "")
	var err error
	o.Args, err = parse(f, args[1:])
	if err == nil && o.Ask != AskDenies && o.Ask != AskIsNone {
		err = fmt.Errorf("--ask is %q: type --ask=deny or --ask=none", o.Ask)
	}
	return err
}

// agentLines lists the agents on lines of at most 80 columns.
func agentLines() string {
	const title = "agents:"
	return wordwrap.Line(title+" "+strings.Join(dialect.Agents(), " "), len(title)+1, 80, utf8.RuneCountInString)
}

func flags() *flag.FlagSet {
	f := flag.NewFlagSet("hookd-bridge", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	return f
}

// parse lets flags stand before and after other arguments.
func parse(f *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := f.Parse(args); err != nil {
			return rest, err
		}
		if f.NArg() == 0 {
			return rest, nil
		}
		rest, args = append(rest, f.Arg(0)), f.Args()[1:]
	}
}

// Main runs the program's own command line and ends it.
func Main() {
	if len(os.Args) > 1 && os.Args[1] == "box" { // a box is part of each call that it contains: nothing comes before it
		os.Exit(Box(os.Args[2:]))
	}
	stdin := io.MultiReader(bytes.NewReader(early.Payload()), os.Stdin)
	o := Options{Stdin: stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit}
	o.handed, o.begun, _ = early.Sent()
	os.Exit(command(context.Background(), os.Args[1:], o))
}

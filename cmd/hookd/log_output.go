package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
)

func logsCommand(a *app) *cobra.Command {
	var last, failed, follow bool
	cmd := &cobra.Command{
		Use:   "logs RUN|HOOK",
		Short: "Show a run, or the runs of a hook, with what they printed",
		Long: `logs shows everything about one run: its id, or the end that a table shows, is
enough when no other run has it. With the name of a hook it shows the hook's newest
run, with --failed the newest that failed or was killed, with -f each as it ends.`,
		Example: `  hookd log output guard-rm
  hookd log output guard-rm --failed
  hookd log output guard-rm -f`,
		Args:              one("RUN or HOOK"),
		ValidArgsFunction: runIDs(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			if follow {
				return followLogs(a, cmd, args[0], failed)
			}
			run, err := runOf(a, cmd, args[0], last, failed)
			if err != nil {
				return err
			}
			return a.print(run, func(p *printer) { printRun(p, run) })
		},
	}
	cmd.Flags().BoolVar(&last, "last", false, "the newest run of the hook, which is what its name alone shows, too")
	cmd.Flags().BoolVar(&failed, "failed", false, "the newest run of the hook that failed, timed out or did not start")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "each run of the hook as it ends, until Ctrl-C")
	cmd.MarkFlagsMutuallyExclusive("last", "failed")
	return cmd
}

// failures are the results of runs that did not come to their end.
var failures = []client.Result{
	client.ResultFailed,
	client.ResultTimeout,
	client.ResultSpawnError,
	client.ResultInterrupted,
}

// runOf finds the run that a person means: by the name of its hook, or by its id.
func runOf(a *app, cmd *cobra.Command, name string, last, failed bool) (client.Run, error) {
	ctx, cancel := a.answer(cmd)
	defer cancel()
	c := a.dial(cmd)
	newest, err := newestRun(ctx, c, name, failed)
	if err != nil {
		return client.Run{}, err
	}
	if newest != nil {
		return c.Run(ctx, newest.ID)
	}
	_, unknown := c.Hook(ctx, name)
	switch {
	case unknown == nil && failed:
		return client.Run{}, fail(
			exitFailed,
			"see its runs with `hookd log runs --hook "+name+"`",
			"no run of hook %s has failed",
			name,
		)
	case unknown == nil:
		return client.Run{}, fail(exitFailed, "try it with `hookd test "+name+"`", "hook %s has not run yet", name)
	case last || failed:
		return client.Run{}, unknown
	}
	run, err := c.Run(ctx, name)
	if err != nil {
		err = cmp.Or(misspeltHook(ctx, c, name), err)
	}
	return run, err
}

// newestRun returns the newest run of a hook, nil if there is none.
func newestRun(ctx context.Context, c *client.Client, hook string, failed bool) (newest *client.Run, err error) {
	results := []client.Result{""}
	if failed {
		results = failures
	}
	for _, result := range results {
		runs, err := c.Runs(ctx, client.RunQuery{Hook: hook, Result: result, Limit: 1})
		if err != nil && !errors.Is(err, client.ErrRecent) {
			return nil, err
		}
		if len(runs) > 0 && (newest == nil || runs[0].Started.After(newest.Started)) {
			newest = &runs[0]
		}
	}
	return newest, nil
}

// followLogs prints each run of a hook with its output.
func followLogs(a *app, cmd *cobra.Command, hook string, failed bool) error {
	f := newFollower(a)
	from, err := f.begin(cmd)
	if err != nil {
		return err
	}
	ctx, cancel := a.answer(cmd)
	defer cancel()
	if _, err := a.dial(cmd).Hook(ctx, hook); err != nil {
		return err
	}
	return f.run(cmd, from, func(r client.Record) {
		if r.Run == nil || r.Run.Hook != hook || failed && !slices.Contains(failures, r.Run.Result) {
			return
		}
		ctx, cancel := a.answer(cmd)
		defer cancel()
		run, err := a.dial(cmd).Run(ctx, r.Run.ID)
		if err != nil {
			run = *r.Run // its output is gone already
		}
		if a.format == "json" {
			f.p.err = writeRecord(a, client.RecordRun, run)
			return
		}
		printRun(f.p, run)
		f.p.line()
	})
}

// runIDs completes the ids of the newest runs.
func runIDs(a *app) completer {
	return asked(a, func(ctx context.Context, c *client.Client) (ids []string) {
		runs, _ := c.Runs(ctx, client.RunQuery{})
		for _, r := range runs {
			ids = append(ids, fmt.Sprintf("%s\t%s %s %s", r.ID, r.Hook, r.Event, r.Result))
		}
		return ids
	})
}

func printRun(p *printer, r client.Run) {
	killed := r.Killed
	if r.Left > 0 {
		killed += fmt.Sprintf("; %d processes may be left", r.Left)
	}
	shadowed := ""
	if r.Shadow {
		shadowed = "what it decides does not count: " + cmp.Or(string(r.Decision), "none")
	}
	p.pairs(
		pair{"result", result(r.Result)},
		kv("hook", r.Hook),
		kv("called", r.Called),
		kv("about", about(r.Tool, r.Subject)),
		kv("error", r.Error),
		kv("reason", r.Reason),
		kv("shadow", shadowed),
		kv("warning", r.Warning),
		kv("exit", endOf(r.ExitCode, r.Signal)),
		kv("killed", killed),
		kv("event", strings.TrimSpace(r.Event+" "+r.EventID)),
		kv("given as", r.Given),
		kv("from", strings.TrimSpace(r.Sender+" "+string(r.Dialect))),
		kv("session", r.SessionID),
		kv("agent", strings.TrimSpace(r.AgentName+" "+r.AgentID)),
		kv("tried", triedWords(r.Tried)),
		kv("spawned", r.Spawned),
		kv("input", r.Input),
		kv("started", r.Started.Local().Format(time.RFC3339Nano)),
		kv("took", fmt.Sprintf("%s, %s", millis(r.DurationMS), waitedWords(r))),
		kv("run", r.ID),
		kv("source", r.Source),
		kv("digest", r.Digest),
	)
	printOutput(p, "stdout", r.Stdout)
	printOutput(p, "stderr", r.Stderr)
}

// triedWords explains the mark of a run that a person tried.
func triedWords(tried bool) string {
	if !tried {
		return ""
	}
	return "by a person: it is in no count of what agents did"
}

// printOutput writes the kept part of a stream without its colours, and how much is missing
// between.
func printOutput(p *printer, name string, o client.Output) {
	if o.Bytes == 0 {
		p.line(p.paint(bold, name), " nothing")
		return
	}
	p.line(p.paint(bold, name), fmt.Sprintf(" %d bytes", o.Bytes))
	p.block(withoutColours(o.Head))
	if o.Truncated() {
		p.linef("  … %d bytes are not kept …", o.Bytes-int64(len(o.Head)+len(o.Tail)))
	}
	if o.Tail != "" {
		p.block(withoutColours(o.Tail))
	}
}

// waitedWords says how long after its event a run began. A run that an agent waits for is in no queue.
func waitedWords(r client.Run) string {
	if r.Awaited {
		return millis(r.QueueMS) + " after its event"
	}
	return "after " + millis(r.QueueMS) + " in the queue"
}

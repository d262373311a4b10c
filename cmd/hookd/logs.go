package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
)

func logsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "logs RUN",
		Short:             "Show one run with what it printed",
		Long:              "logs shows everything about one run. The beginning of its id is enough when no other run has it.",
		Example:           "  hookd history --limit 1\n  hookd logs 01JD",
		Args:              one("RUN"),
		ValidArgsFunction: runIDs(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.answer(cmd)
			defer cancel()
			run, err := a.dial(cmd).Run(ctx, args[0])
			if err != nil {
				return err
			}
			return a.print(run, func(p *printer) { p.run(run) })
		},
	}
}

// runIDs completes the ids of the newest runs.
func runIDs(a *app) completer {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := completing(cmd)
		defer cancel()
		runs, _ := a.dial(cmd).Runs(ctx, client.RunQuery{})
		var ids []string
		for _, r := range runs {
			ids = append(ids, fmt.Sprintf("%s\t%s %s %s", r.ID, r.Hook, r.Event, r.Result))
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}

func (p *printer) run(r client.Run) {
	exit := fmt.Sprint(r.ExitCode)
	if r.Signal != "" {
		exit = r.Signal
	} else if r.ExitCode < 0 {
		exit = "none"
	}
	killed := r.Killed
	if r.Left > 0 {
		killed += fmt.Sprintf("; %d processes may be left", r.Left)
	}
	p.pairs(
		pair{"result", result(r.Result)},
		kv("hook", r.Hook),
		kv("error", r.Error),
		kv("warning", r.Warning),
		kv("exit", exit),
		kv("killed", killed),
		kv("event", strings.TrimSpace(r.Event+" "+r.EventID)),
		kv("given as", r.Given),
		kv("from", strings.TrimSpace(r.Sender+" "+string(r.Dialect))),
		kv("session", r.SessionID),
		kv("agent", strings.TrimSpace(r.AgentName+" "+r.AgentID)),
		kv("spawned", r.Spawned),
		kv("input", r.Input),
		kv("started", r.Started.Local().Format(time.RFC3339Nano)),
		kv("took", fmt.Sprintf("%s, after %s in the queue", millis(r.DurationMS), millis(r.QueueMS))),
		kv("run", r.ID),
		kv("source", r.Source),
		kv("digest", r.Digest),
	)
	p.output("stdout", r.Stdout)
	p.output("stderr", r.Stderr)
}

// output writes what was kept of a stream, and how much is missing between.
func (p *printer) output(name string, o client.Output) {
	if o.Bytes == 0 {
		p.line(p.paint(bold, name), " nothing")
		return
	}
	p.line(p.paint(bold, name), fmt.Sprintf(" %d bytes", o.Bytes))
	p.block(o.Head)
	if o.Truncated() {
		p.linef("  … %d bytes are not kept …", o.Bytes-int64(len(o.Head)+len(o.Tail)))
	}
	if o.Tail != "" {
		p.block(o.Tail)
	}
}

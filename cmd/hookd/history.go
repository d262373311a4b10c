package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/api"
	"github.com/hookd/hookd/internal/events"
)

func historyCommand(a *app) *cobra.Command {
	var hook, event, session, agent, result, since, until string
	var limit int
	var follow bool
	cmd := &cobra.Command{
		Use:   "history",
		Short: "List past runs, newest first",
		Example: `  hookd history
  hookd history --hook guard-rm --result block --since 1h
  hookd history -f --agent reviewer`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			values := url.Values{}
			for key, value := range map[string]string{"hook": hook, "event": event, "session": session,
				"agent": agent, "result": result, "since": since, "until": until} {
				if value != "" {
					values.Set(key, value)
				}
			}
			if cmd.Flags().Changed("limit") {
				values.Set("limit", strconv.Itoa(limit))
			}
			q, bad := api.ParseRunQuery(values, time.Now())
			if bad != nil {
				return fail(exitUsage, bad.Hint+", see `hookd history --help`", "%w", bad)
			}
			if follow {
				return followHistory(a, cmd, q)
			}
			return history(a, cmd, q)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&hook, "hook", "", "of this hook")
	flags.StringVar(&event, "event", "", "for events of this name, or for the event with this id")
	flags.StringVar(&session, "session", "", "for events of this session_id")
	flags.StringVar(&agent, "agent", "", "for events of this agent_id or agent_name")
	flags.StringVar(&result, "result", "", "ok, block, failed, timeout, spawn_error, interrupted or dropped")
	flags.StringVar(&since, "since", "", "not older than this: 1h, or a time such as 2026-01-02T15:04:05Z")
	flags.StringVar(&until, "until", "", "older than this, as for --since")
	flags.BoolVarP(&follow, "follow", "f", false, "go on with each run as it ends, until Ctrl-C")
	flags.IntVar(&limit, "limit", 50, "at most so many")
	_ = cmd.RegisterFlagCompletionFunc("hook", hookNames(a))
	_ = cmd.RegisterFlagCompletionFunc("event", eventNames(a))
	_ = cmd.RegisterFlagCompletionFunc("result", words(
		string(events.ResultOK), string(events.ResultBlock), string(events.ResultFailed),
		string(events.ResultTimeout), string(client.ResultSpawnError), string(events.ResultInterrupted),
		string(events.ResultDropped)))
	return cmd
}

func history(a *app, cmd *cobra.Command, q api.RunQuery) error {
	ctx, cancel := a.answer(cmd)
	defer cancel()
	runs, err := a.dial(cmd).Runs(ctx, client.RunQuery(q))
	if err != nil {
		return err
	}
	return a.print(map[string][]client.Run{"runs": runs}, func(p *printer) { p.runs(runs) })
}

// followHistory prints the runs that fit, oldest first, and then each that
// ends. The stream begins before the history is read, so none falls between.
func followHistory(a *app, cmd *cobra.Command, q api.RunQuery) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	p := a.printer(a.out)
	var shown uint64
	show := func(seq uint64, raw []byte) {
		if seq <= shown {
			return
		}
		shown = seq
		if a.format == "json" {
			p.line(escape(string(raw), keepNothing))
			return
		}
		p.record(raw)
	}
	err := a.dial(cmd).Tail(ctx, client.TailOptions{}, func(raw json.RawMessage) error {
		var r struct {
			Type string `json:"type"`
			events.Run
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			return err
		}
		switch r.Type {
		case "epoch":
			runs, err := a.dial(cmd).Runs(ctx, client.RunQuery(q))
			if err != nil {
				return err
			}
			for _, run := range slices.Backward(runs) {
				raw, err := json.Marshal(struct {
					Type string `json:"type"`
					client.Run
				}{"run", run})
				if err != nil {
					return err
				}
				show(run.Seq, raw)
			}
		case "run":
			if q.Fits(r.Run) {
				show(r.Seq, raw)
			}
		}
		return p.err
	})
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return nil
	}
	return err
}

func (p *printer) runs(runs []client.Run) {
	if len(runs) == 0 {
		p.line("no such runs; send an event with `hookd emit agent:end`")
		return
	}
	header := []string{"STARTED", "RESULT", "HOOK", "EVENT", "TIME", "RUN"}
	if p.wide {
		header = append(header, "EXIT", "QUEUED", "SESSION", "AGENT", "EVENT ID")
	}
	header = append(header, "ERROR")
	var rows [][]cell
	for _, r := range runs {
		row := []cell{text(r.Started.Local().Format("2006-01-02 15:04:05")), result(r.Result), text(r.Hook),
			text(r.Event), text(millis(r.DurationMS)), text(r.ID)}
		if p.wide {
			row = append(row, textf("%d", r.ExitCode), text(millis(r.QueueMS)), text(r.SessionID), text(agentOf(r)),
				text(r.EventID))
		}
		rows = append(rows, append(row, text(shorten(r.Error, 100))))
	}
	p.table(header, rows)
}

func agentOf(r client.Run) string {
	if r.AgentName != "" {
		return r.AgentName
	}
	return r.AgentID
}

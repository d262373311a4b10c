package main

import (
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/api"
	"github.com/hookd/hookd/internal/events"
)

func historyCommand(a *app) *cobra.Command {
	var hook, event, session, agent, result, since string
	var limit int
	cmd := &cobra.Command{
		Use:   "history",
		Short: "List past runs, newest first",
		Example: `  hookd history
  hookd history --hook guard-rm --result block --since 1h`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			values := url.Values{}
			for key, value := range map[string]string{"hook": hook, "event": event, "session": session, "agent": agent, "result": result, "since": since} {
				if value != "" {
					values.Set(key, value)
				}
			}
			if cmd.Flags().Changed("limit") {
				values.Set("limit", strconv.Itoa(limit))
			}
			return history(a, cmd, values)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&hook, "hook", "", "of this hook")
	flags.StringVar(&event, "event", "", "for events of this name")
	flags.StringVar(&session, "session", "", "for events of this session_id")
	flags.StringVar(&agent, "agent", "", "for events of this agent_id or agent_name")
	flags.StringVar(&result, "result", "", "ok, block, failed, timeout or spawn_error")
	flags.StringVar(&since, "since", "", "not older than this: 1h, or a time such as 2026-01-02T15:04:05Z")
	flags.IntVar(&limit, "limit", 50, "at most so many")
	_ = cmd.RegisterFlagCompletionFunc("hook", hookNames(a))
	_ = cmd.RegisterFlagCompletionFunc("event", eventNames(a))
	_ = cmd.RegisterFlagCompletionFunc("result", words(
		string(events.ResultOK), string(events.ResultBlock), string(events.ResultFailed), string(events.ResultTimeout), string(events.ResultSpawnError)))
	return cmd
}

func history(a *app, cmd *cobra.Command, values url.Values) error {
	q, bad := api.ParseRunQuery(values, time.Now())
	if bad != nil {
		return fail(exitUsage, bad.Hint+", see `hookd history --help`", "%w", bad)
	}
	ctx, cancel := a.answer(cmd)
	defer cancel()
	runs, err := a.dial(cmd).Runs(ctx, q)
	if err != nil {
		return err
	}
	return a.print(api.Runs{Runs: runs}, func(p *printer) { p.runs(runs) })
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
		row := []cell{text(r.Started.Local().Format("2006-01-02 15:04:05")), result(r.Result), text(r.Hook), text(r.Event), text(millis(r.DurationMS)), text(r.ID)}
		if p.wide {
			row = append(row, textf("%d", r.ExitCode), text(millis(r.QueueMS)), text(r.SessionID), text(agentOf(r)), text(r.EventID))
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

package main

import (
	"cmp"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/wire"
)

func sessionsCommand(a *app) *cobra.Command {
	var agent, cwd, state, since string
	var ofFleet bool
	var limit int
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions of agents: what each does, and what was denied in it",
		Long: `sessions lists the sessions that agents told hookd of, the latest first: whether
each works, waits for a person, is idle or has ended; how many events, tool calls,
denials and questions it had; and what it did last.`,
		Example: "  hookd sessions\n  hookd sessions --agent claude-code --since 1d",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			values := url.Values{}
			for key, value := range map[string]string{"agent": agent, "cwd": cwd, "state": state, "since": since} {
				if value != "" {
					values.Set(key, value)
				}
			}
			if cmd.Flags().Changed("limit") {
				values.Set("limit", strconv.Itoa(limit))
			}
			q, bad := wire.ParseSessionQuery(values, time.Now())
			if bad != nil {
				return fail(exitUsage, bad.Hint+", see `hookd sessions --help`", "%w", bad)
			}
			ctx, cancel := a.answer(cmd)
			defer cancel()
			if ofFleet {
				list, err := a.dial(cmd).FleetSessions(ctx, client.SessionQuery(q))
				if err != nil {
					return err
				}
				answer := map[string][]client.FleetSession{"sessions": list}
				return a.print(answer, func(p *printer) { printFleetSessions(p, list) })
			}
			list, err := a.dial(cmd).Sessions(ctx, client.SessionQuery(q))
			if err == nil && len(list) == 0 {
				err = typed{agent: q.Agent}.misspelt(ctx, a.dial(cmd))
			}
			if err != nil {
				return err
			}
			return a.print(map[string][]client.Session{"sessions": list}, func(p *printer) { printSessions(p, list) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&agent, "agent", "", "of this agent: its name, its id, or such as claude-code")
	flags.StringVar(&cwd, "cwd", "", "in this folder, or below it")
	flags.StringVar(&state, "state", "", "working, waiting, idle or ended")
	flags.StringVar(&since, "since", "", "with an event since: 1h, yesterday, 09:00, 2006-01-02")
	flags.BoolVar(&ofFleet, "fleet", false, "of all machines of the fleet")
	flags.IntVarP(&limit, "limit", "n", 50, "at most so many")
	_ = cmd.RegisterFlagCompletionFunc("agent", words(dialects()...))
	_ = cmd.RegisterFlagCompletionFunc("state", words("working", "waiting", "idle", "ended"))
	return cmd
}

func printSessions(p *printer, list []client.Session) {
	if len(list) == 0 {
		p.line("no such sessions; `hookd doctor` tells which agents have reported any")
		return
	}
	header := []column{
		{title: "LAST"},
		{title: "STATE"},
		nameColumn("AGENT"),
		{title: "SESSION"},
		{title: "CALLS"},
		{title: "DENIED"},
		{title: "ASKED"},
		{title: "FOLDER", yield: 3, end: true},
		textColumn("SUBJECT"),
	}
	if p.wide {
		header = append(header, fixed("EVENTS", "FIRST")...)
	}
	var ids []string
	for _, s := range list {
		ids = append(ids, s.SessionID)
	}
	short := p.ids(ids)
	var rows [][]cell
	for _, s := range list {
		denied := textf("%d", s.Denials)
		if s.Denials > 0 {
			denied.c = red
		}
		row := []cell{
			text(p.when(s.Last)), sessionState(s.State), text(agentName(s.AgentName, s.AgentID, s.Dialect, false)),
			text(short(s.SessionID)), textf("%d", s.Tools), denied, textf("%d", s.Asks), text(s.Cwd),
			text(cmp.Or(s.Subject, s.Tool)),
		}
		if p.wide {
			row = append(row, textf("%d", s.Events), text(p.when(s.First)))
		}
		rows = append(rows, row)
	}
	p.table(header, rows)
}

func sessionState(s string) cell {
	switch s {
	case "working":
		return cell{s, green}
	case "waiting":
		return cell{s, yellow}
	case "ended":
		return cell{s, dim}
	}
	return text(s)
}

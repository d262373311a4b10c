package main

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/wire"
)

func sessionsCommand(a *app) *cobra.Command {
	query, ofFleet := queryFlags{}, false
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions of agents: what each does, and what was denied in it",
		Long: `sessions lists the sessions that agents told hookd of, the latest first: whether
each works, waits for a person, is quiet, is idle or has ended; how many events, tool
calls, denials and questions it had; and what it did last. A quiet one was working, and
has sent nothing for 15 minutes: it is in one long call, or its agent is gone.`,
		Example: "  hookd sessions\n  hookd sessions --agent claude-code --since 1d",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, bad := wire.ParseSessionQuery(query.values(cmd), time.Now())
			if bad != nil {
				return fail(exitUsage, bad.Hint+", see `hookd sessions --help`", "%w", bad)
			}
			if ofFleet {
				list := func(ctx context.Context, c *client.Client) ([]client.FleetSession, error) {
					return c.FleetSessions(ctx, client.SessionQuery(q))
				}
				return showList(a, cmd, "sessions", list, printFleetSessions)
			}
			return showList(a, cmd, "sessions", func(ctx context.Context, c *client.Client) ([]client.Session, error) {
				list, err := c.Sessions(ctx, client.SessionQuery(q))
				if err == nil && len(list) == 0 {
					err = typed{agent: q.Agent}.misspelt(ctx, c)
				}
				return list, err
			}, printSessions)
		},
	}
	query.add(cmd,
		[3]string{"agent", "", "of this agent: its name, its id, or such as claude-code"},
		[3]string{"cwd", "", "in this folder, or below it"},
		[3]string{"state", "", "working, waiting, quiet, idle or ended"},
		[3]string{"since", "", "with an event since: 1h, yesterday, 09:00, 2006-01-02"})
	cmd.Flags().BoolVar(&ofFleet, "fleet", false, "of all machines of the fleet")
	cmd.Flags().IntP("limit", "n", 50, "at most so many")
	_ = cmd.RegisterFlagCompletionFunc("agent", words(dialects()...))
	_ = cmd.RegisterFlagCompletionFunc("state", words("working", "waiting", "quiet", "idle", "ended"))
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
	short := idsOf(p, list, func(s client.Session) string { return s.SessionID })
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

package main

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/people/story"
	"github.com/hookd/hookd/wire"
)

func historyCommand(a *app) *cobra.Command {
	query, follow := queryFlags{}, false
	cmd := &cobra.Command{
		Use:   "history",
		Short: "List past runs, newest first",
		Example: `  hookd log runs
  hookd log runs --hook guard-rm --result deny --since 1h
  hookd log runs -f --agent reviewer`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, bad := wire.ParseRunQuery(query.values(cmd), time.Now())
			if bad != nil {
				return fail(exitUsage, bad.Hint+", see `hookd log runs --help`", "%w", bad)
			}
			if follow {
				return followHistory(a, cmd, q)
			}
			return history(a, cmd, q)
		},
	}
	query.add(cmd,
		[3]string{"hook", "", "of this hook"},
		[3]string{"event", "", "for events of this name, or for the event with this id"},
		[3]string{"session", "", "for events of this session_id"},
		[3]string{"agent", "", "for events of this agent: its name, its id, or such as claude-code"},
		[3]string{"tool", "", "for calls of this tool"},
		[3]string{"grep", "q", "with this text in what it was about, or in the reason"},
		[3]string{"result", "", "ok, deny, failed, timeout, spawn_error, interrupted, dropped or merged"},
		[3]string{"since", "", "not older than this: 1h, yesterday, 09:00, 2006-01-02"},
		[3]string{"until", "", "older than this, as for --since"})
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with each run as it ends, until Ctrl-C")
	cmd.Flags().IntP("limit", "n", 50, "at most so many")
	_ = cmd.RegisterFlagCompletionFunc("hook", hookNames(a))
	_ = cmd.RegisterFlagCompletionFunc("event", eventNames(a))
	_ = cmd.RegisterFlagCompletionFunc("tool", lazily(toolNames))
	_ = cmd.RegisterFlagCompletionFunc("agent", words(dialects()...))
	_ = cmd.RegisterFlagCompletionFunc("result", words(
		string(wire.ResultOK), string(wire.ResultDeny), string(wire.ResultFailed),
		string(wire.ResultTimeout), string(client.ResultSpawnError), string(wire.ResultInterrupted),
		string(wire.ResultDropped), string(wire.ResultMerged)))
	return cmd
}

func history(a *app, cmd *cobra.Command, q wire.RunQuery) error {
	ctx, cancel := a.answer(cmd)
	defer cancel()
	runs, err := a.dial(cmd).Runs(ctx, client.RunQuery(q))
	if err == nil && len(runs) == 0 {
		err = typedRun(q).misspelt(ctx, a.dial(cmd))
	}
	return a.printRead(err, map[string][]client.Run{"runs": runs}, func(p *printer) {
		if err == nil || len(runs) > 0 {
			printRuns(p, runs)
		}
	})
}

// printRead prints a list unless it could not be read. One from memory is printed, and is an error.
func (a *app) printRead(err error, v any, table func(*printer)) error {
	if err == nil {
		return a.print(v, table)
	}
	if !errors.Is(err, client.ErrRecent) {
		return err
	}
	if err := a.print(v, table); err != nil {
		return err
	}
	return fail(exitFailed, "see `hookd status`", "%w", err)
}

func typedRun(q wire.RunQuery) typed { return typed{q.Hook, q.Tool, q.Agent, q.Event} }

// followHistory prints the runs that fit, oldest first, and then each that ends.
func followHistory(a *app, cmd *cobra.Command, q wire.RunQuery) error {
	return followPast(a, cmd, past[client.Run]{
		typed:  typedRun(q),
		list:   func(ctx context.Context) ([]client.Run, error) { return a.dial(cmd).Runs(ctx, client.RunQuery(q)) },
		id:     func(r client.Run) string { return r.ID },
		record: func(r client.Run) client.Record { return client.Record{Type: client.RecordRun, Seq: r.Seq, Run: &r} },
		value:  func(r client.Record) *client.Run { return r.Run },
		fits: func(raw []byte) bool {
			var run wire.Run
			return json.Unmarshal(raw, &run) == nil && q.Fits(run)
		},
	})
}

// writeRecord writes v as a record of the stream.
func writeRecord(a *app, kind string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return err
	}
	members["type"] = json.RawMessage(strconv.Quote(kind))
	return writeJSON(a.out, members, "")
}

func printRuns(p *printer, runs []client.Run) {
	if len(runs) == 0 {
		p.line("no such runs; send an event with `hookd emit agent:end`")
		return
	}
	id := idsOf(p, runs, func(r client.Run) string { return r.ID })
	header := []column{
		{title: "STARTED"},
		{title: "RESULT"},
		hookColumn("HOOK"),
		spareColumn("EVENT"),
		nameColumn("TOOL"),
		textColumn("SUBJECT"),
		{title: "TIME"},
		{title: "RUN"},
	}
	if p.wide {
		header = append(header, fixed("EXIT", "QUEUED", "SESSION", "AGENT", "EVENT ID")...)
	}
	header = append(header, textColumn("REASON"))
	var rows [][]cell
	for _, r := range runs {
		row := []cell{
			text(p.when(r.Started)),
			result(r.Result),
			text(r.Hook),
			text(r.Event),
			text(r.Tool),
			text(r.Subject),
			text(millis(r.DurationMS)),
			text(id(r.ID)),
		}
		if p.wide {
			row = append(row, text(endOf(r.ExitCode, r.Signal)), text(millis(r.QueueMS)), text(r.SessionID),
				text(agentName(r.AgentName, r.AgentID, r.Dialect, r.Tried)), text(r.EventID))
		}
		rows = append(rows, append(row, text(why(r))))
	}
	p.table(header, rows)
}

// why is the reason of a block, of another answer, or of a failure; and whether a person tried it.
func why(r client.Run) string {
	reason := story.WithoutName(r.Reason, r.Hook)
	switch {
	case r.Error != "":
		reason = r.Error
	case r.Shadow && r.Decision != "":
		reason = strings.Join(nonEmpty([]string{"would " + string(r.Decision), reason}), ": ")
	}
	if r.Tried {
		return strings.TrimSpace(triedMark + " " + reason)
	}
	return reason
}

// endOf is the code that a run ended with, or the signal that ended it.
func endOf(code int, signal string) string {
	switch {
	case signal != "":
		return signal
	case code < 0:
		return "none"
	}
	return strconv.Itoa(code)
}

// idsOf returns the form of the ids of a list in a table: on a terminal the part that is unique on the page.
func idsOf[T any](p *printer, list []T, id func(T) string) func(string) string {
	if p.wide || p.width == 0 {
		return func(id string) string { return id }
	}
	ids := make([]string, len(list))
	for i, one := range list {
		ids[i] = id(one)
	}
	return endings(ids)
}

// when writes a time as short as the terminal wants it.
func (p *printer) when(t time.Time) string {
	switch now := time.Now(); {
	case p.wide || p.width == 0:
		return t.Local().Format("2006-01-02 15:04:05")
	case t.Local().Format(time.DateOnly) == now.Format(time.DateOnly):
		return t.Local().Format("15:04:05")
	case t.Year() == now.Year():
		return t.Local().Format("Jan _2 15:04")
	}
	return t.Local().Format(time.DateOnly)
}

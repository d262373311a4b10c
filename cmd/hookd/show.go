package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/people/card"
)

func showCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "show HOOK",
		Short:             "Show everything about one hook",
		Example:           "  hookd show notify-on-agent-end",
		Args:              one("HOOK"),
		ValidArgsFunction: hookNames(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			return show(a, cmd, func(ctx context.Context, c *client.Client) (client.Hook, error) {
				return c.Hook(ctx, args[0])
			}, printHook)
		},
	}
}

func printHook(p *printer, h client.Hook) {
	p.pairs(
		kv("name", h.Name),
		pair{"state", state(h.State)},
		kv("layer", h.Layer),
		kv("description", h.Description),
		kv("file", h.File),
		kv("source", h.Source),
		kv("type", h.Type),
		kv("events", strings.Join(h.Events, " ")),
		kv("command", strings.Join(append([]string{h.Command}, h.Args...), " ")),
		kv("script", h.Script),
		kv("timeout", deadline(h)),
		kv("order", h.Order),
		kv("concurrency", number(h.Concurrency)),
		kv("mode", kept(h.Persistent)),
		kv("warm", yes(h.Warm)),
		kv("when", strings.Join(h.When, "\n")),
		kv("shadow", yes(h.Shadow)),
		kv("debounce", wholeMillis(h.DebounceMS)),
		kv("throttle", h.Throttle),
		kv("scope", h.Scope),
		kv("tests", number(h.Tests)),
		kv("settings", string(h.Settings)),
		kv("digest", h.Digest),
		kv("runs", counts(h.Counts)),
		kv("last run", lastRun(h)),
	)
	p.problems(h.Problems)
	printChanges(p, h.Changes)
}

// printChanges lists the changes of a hook, newest first.
func printChanges(p *printer, list []client.Change) {
	if len(list) == 0 {
		return
	}
	p.line(p.paint(bold, "last changes"))
	var rows [][]cell
	for _, c := range list {
		rows = append(rows, []cell{text(c.Time.Local().Format("2006-01-02 15:04:05")), text(c.Change),
			text(fmt.Sprintf("%.12s", c.From)), text(fmt.Sprintf("%.12s", c.To)), text(c.By), text(c.Why)})
	}
	p.table(
		[]column{
			{title: "TIME"},
			{title: "CHANGE"},
			{title: "FROM"},
			{title: "TO"},
			nameColumn("BY"),
			textColumn("WHY"),
		},
		rows,
	)
}

// kept tells which processes of a persistent hook live.
func kept(k *client.Workers) string {
	if k == nil {
		return ""
	}
	parts := []string{"persistent, " + card.Plural(k.Starts, "start")}
	for _, c := range k.Copies {
		parts = append(parts, fmt.Sprintf("pid %d (%s, since %s, %d answered)", c.PID, c.Slots,
			c.Started.Local().Format("15:04:05"), c.Answered))
	}
	return strings.Join(parts, "; ")
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return textf("%d", n).text
}

func lastRun(h client.Hook) string {
	if h.LastRun == nil {
		return "none since the daemon started; try it with `hookd test " + h.Name + "`"
	}
	r := h.LastRun
	return textf("%s for %s %s, see `hookd log output %s`", lastResult(r).text, r.Event, ago(r.Started), r.ID).text
}

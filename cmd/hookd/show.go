package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
)

func showCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "show HOOK",
		Short:             "Show everything about one hook",
		Example:           "  hookd show notify-on-agent-end",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: hookNames(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.answer(cmd)
			defer cancel()
			hook, err := a.dial(cmd).Hook(ctx, args[0])
			if err != nil {
				return err
			}
			return a.print(hook, func(p *printer) { p.hook(hook) })
		},
	}
}

func (p *printer) hook(h client.Hook) {
	p.pairs(
		[2]string{"name", h.Name},
		[2]string{"state", h.State},
		[2]string{"description", h.Description},
		[2]string{"file", h.File},
		[2]string{"source", h.Source},
		[2]string{"type", h.Type},
		[2]string{"events", strings.Join(h.Events, " ")},
		[2]string{"command", strings.Join(append([]string{h.Command}, h.Args...), " ")},
		[2]string{"timeout", deadline(h)},
		[2]string{"order", h.Order},
		[2]string{"concurrency", number(h.Concurrency)},
		[2]string{"settings", string(h.Settings)},
		[2]string{"digest", h.Digest},
		[2]string{"runs", counts(h.Counts)},
		[2]string{"last run", lastRun(h)},
	)
	p.problems(h.Problems)
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
	return textf("%s for %s %s, see `hookd logs %s`", r.Result, r.Event, ago(r.Started), r.ID).text
}

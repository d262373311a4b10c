package main

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/wire"
)

func matchCommand(a *app) *cobra.Command {
	var ev eventFlags
	var tool string
	cmd := &cobra.Command{
		Use:   "match EVENT",
		Short: "Show which hooks would run for an event, which fields match, and why others would not",
		Long:  "match reads the hooks directory itself: it needs no daemon, sends nothing and runs nothing.",
		Example: `  hookd match agent:end
  hookd match pre_tool_use --tool shell --cwd ~/src/app`,
		Args:              one("EVENT"),
		ValidArgsFunction: eventNames(a),
		RunE: withConfig(func(cmd *cobra.Command, args []string, cfg config.Config) error {
			ev.wait = true
			env, err := ev.completed(a, args[0], tool)
			if err != nil {
				return err
			}
			found := catalog.Match(cfg, env)
			return a.print(found, func(p *printer) { printMatches(p, found) })
		}),
	}
	ev.addTo(cmd)
	cmd.Flags().StringVar(&tool, "tool", "", "name of the tool, for hooks with a matcher or a filter")
	settingFlags(cmd, "hooks_dir")
	return cmd
}

func printMatches(p *printer, m wire.Matches) {
	kind := "custom, observing"
	if m.Kind != "" && string(m.Kind) != m.Event {
		kind = string(m.Kind)
	}
	how := "its hooks observe"
	switch {
	case m.Decidable && m.Sequence:
		how = "decidable, hooks run one after another"
	case m.Decidable:
		how = "decidable, hooks run side by side"
	}
	if near := meantEvent(m.Event); near != "" {
		how += "; no agent has it, " + strings.TrimSpace(near)
	}
	p.linef("%s (%s, %s): %s", m.Event, cmp.Or(string(m.Dialect), "no dialect"), kind, how)
	if len(m.Hooks) == 0 {
		p.line("there are no hooks; make one with `hookd new hello --lang sh`")
		return
	}
	var rows [][]cell
	for i, h := range m.Hooks {
		why := cmp.Or(h.Why, h.Fitted)
		rows = append(rows, []cell{textf("%d", i+1), text(h.Hook), part(h), text(h.Given), text(why)})
	}
	p.table([]column{{title: "#"}, hookColumn("HOOK"), {title: "WOULD"}, nameColumn("AS"), textColumn("WHY")}, rows)
}

// part names the part that the hook would take.
func part(m wire.Match) cell {
	lane := ""
	if strings.HasSuffix(m.Role, "(preempt)") {
		lane = ", preempt lane"
	}
	switch {
	case !m.Runs:
		return cell{"not run", dim}
	case m.Role == "shadow":
		return cell{"watch (shadow)", yellow}
	case m.Decides:
		return cell{"decide" + lane, green}
	}
	return cell{"observe" + lane, green}
}

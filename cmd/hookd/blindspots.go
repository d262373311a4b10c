package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/people/blindspots"
	"github.com/hookd/hookd/internal/people/card"
)

func blindspotsCommand(a *app) *cobra.Command {
	since, unread := 7*24*time.Hour, false
	cmd := &cobra.Command{
		Use:   "blindspots [AGENT]",
		Short: "Show which calls of agents no guard saw, or ran against the answer",
		Long: `blindspots compares what agents did with what hookd was asked: the results that agents
report, and the transcripts that they keep on this machine, of subagents too. It says which tools
no guard sees, with counts, and what to type. With the setting watch_programs (Linux 6.6) it also
names programs that started below an agent's process while no call was open. Most of these are the
agent's own, such as git; what has the form of a model's command is red.

The exit code is 1 when a call was not asked about, or an answer was not obeyed.`,
		Example: `  hookd blindspots
  hookd blindspots claude-code --since 30d
  hookd blindspots --no-transcripts -o json`,
		Args:              atMostOne,
		ValidArgsFunction: words(connect.Names()...),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := blindspots.Options{Record: a.dial(cmd), Env: os.Getenv, Since: time.Now().Add(-since)}
			if len(args) == 1 {
				o.Agent = args[0]
			}
			if !unread {
				o.Home, _ = os.UserHomeDir() // without one there are no transcripts
			}
			r, err := blindspots.Look(cmd.Context(), o)
			if err != nil {
				return err
			}
			if o.Agent != "" && len(r.Agents) == 0 && !slices.Contains(connect.Names(), o.Agent) {
				return connectFailure(&connect.UnknownError{Agent: o.Agent}, "")
			}
			clean := r.Clean()
			r.Agents = upTo(r.Agents, a.limit)
			if err := a.print(r, func(p *printer) { printBlindspots(p, r) }); err != nil {
				return err
			}
			return exitOf(clean)
		},
	}
	cmd.Flags().Var((*duration.Back)(&since), "since", "how far back: 1h, yesterday, 09:00")
	cmd.Flags().Lookup("since").DefValue = "7d"
	cmd.Flags().BoolVar(&unread, "no-transcripts", false, "compare with the results on record alone")
	return withLimit(a, cmd)
}

func printBlindspots(p *printer, r *blindspots.Report) {
	if len(r.Agents) == 0 {
		p.sentence(plain, "no agent is on record since then: `hookd connect` shows which are connected")
	}
	for i, a := range r.Agents {
		if i > 0 {
			p.line()
		}
		colour := green
		if a.NotAsked+a.Disobeyed > 0 || a.Executed != nil && a.Executed.Commands > 0 {
			colour = red
		}
		p.line(p.paint(bold, escape(a.Agent, keepNothing)), "  ", p.paint(colour, blindWords(a)))
		blindTools(p, a)
		if a.Executed != nil {
			printBlindPrograms(p, a.Executed)
		}
		for _, k := range a.Kinds {
			word := "no guard sees"
			if k.Unknown {
				word = "perhaps unseen"
			}
			p.linef("  %s: %s (%s)", word, k.Kind, k.Why)
		}
		if a.Away > 0 {
			p.linef("  not on record: %s in %s of its transcripts",
				card.Plural(a.Away, "call"), card.Plural(a.Sessions, "session"))
		}
		if a.Do != "" {
			p.linef("  type: %s", a.Do)
		}
	}
}

// blindWords says in one line how the calls of an agent were guarded.
func blindWords(a blindspots.Agent) string {
	parts := []string{card.Plural(a.Asked, "call") + " asked about"}
	if a.NotAsked > 0 {
		parts = append(parts, fmt.Sprintf("%d NOT ASKED", a.NotAsked))
	}
	if a.Disobeyed > 0 {
		parts = append(parts, fmt.Sprintf("%d DISOBEYED", a.Disobeyed))
	}
	if a.Executed != nil && a.Executed.Commands > 0 {
		parts = append(parts, fmt.Sprintf("%d EXECUTED UNASKED", a.Executed.Commands))
	}
	if len(parts) == 1 {
		parts = append(parts, "none unseen")
	}
	if a.Read > 0 {
		parts = append(parts, fmt.Sprintf("%d in transcripts", a.Read))
	}
	return strings.Join(parts, ", ")
}

// blindTools are the rows of tools with calls that were not guarded.
func blindTools(p *printer, a blindspots.Agent) {
	if len(a.Tools) == 0 {
		return
	}
	rows := make([][]cell, len(a.Tools))
	for i, t := range a.Tools {
		rows[i] = []cell{
			text("  " + t.Tool), text(fmt.Sprint(t.NotAsked)), text(fmt.Sprint(t.Disobeyed)),
			text(fmt.Sprint(t.Subagent)), text(p.when(t.Last)),
		}
	}
	p.table(fixed("  TOOL", "NOT ASKED", "DISOBEYED", "BY SUBAGENTS", "LAST"), rows)
}

// printBlindPrograms prints the programs that started while no call was open, commands first.
func printBlindPrograms(p *printer, x *client.Executed) {
	p.linef("  executed: %d programs within calls, %d of them later, %d outside", x.Asked, x.Later, x.Unasked)
	var rows [][]cell
	for _, commands := range []bool{true, false} {
		for _, one := range x.Programs {
			if one.Command != commands || len(rows) == mostShownPrograms {
				continue
			}
			name := cell{cmp.Or(one.Name, "(ended too soon)"), ""}
			if one.Command {
				name = cell{"command", red}
			}
			name.text = "  " + name.text
			rows = append(rows, []cell{name, text(fmt.Sprint(one.Count)), text(p.when(one.Last)), text(one.Example)})
		}
	}
	if len(rows) > 0 {
		columns := fixed("  OUTSIDE", "COUNT", "LAST", "FOR EXAMPLE")
		columns[3].yield = 1
		p.table(columns, rows)
	}
}

const mostShownPrograms = 10

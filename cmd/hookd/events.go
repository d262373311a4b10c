package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/spell"
	"github.com/hookd/hookd/internal/events"
)

func eventsCommand(a *app) *cobra.Command {
	var dialect, check, program string
	cmd := &cobra.Command{
		Use:   "events [NAME|KIND]",
		Short: "Print the contract table: events, payloads, and what hooks may decide",
		Long: `events prints the events that hookd knows, by dialect. With a name or a kind it
prints those rows in full: when they fire, what a hook is given, and what its
answer can do. Custom events need no row: they observe.

--check compares the rows of an agent with the names of events that the agent itself
ships, in its program or beside it, where it ships them in a form that can be read. The
agent is not started. The exit code is 1 where they differ.`,
		Example: `  hookd events
  hookd events agent:end
  hookd events tool.before
  hookd events --dialect docker-agent
  hookd events --check claude-code`,
		Args:              atMostOne,
		ValidArgsFunction: eventNames(a),
		RunE: func(_ *cobra.Command, args []string) error {
			if check != "" {
				return checkEvents(a, check, program)
			}
			if program != "" {
				return fail(exitUsage, "type `hookd events --check AGENT --program PATH`", "--program is for --check")
			}
			if dialect != "" && !slices.Contains(dialects(), dialect) {
				return fail(exitUsage, "type one of them, e.g. `hookd events --dialect librefang`",
					"unknown dialect %q; there are %s", dialect, strings.Join(dialects(), ", "))
			}
			rows := selectRows(dialect, args)
			if len(rows) == 0 {
				near := ""
				if name := spell.Near(args[0], eventWords()); name != "" {
					near = ", did you mean " + name + "?"
				}
				return fail(exitUsage, "see them all with `hookd events`; as a custom event it would observe",
					"no event or kind is called %q%s", args[0], near)
			}
			rows = upTo(rows, a.limit)
			return a.print(rows, func(p *printer) { printEvents(p, rows, len(args) > 0) })
		},
	}
	cmd.Flags().StringVar(&dialect, "dialect", "", "only rows of this dialect")
	cmd.Flags().StringVar(&check, "check", "", "compare the rows of this agent with what the installed agent ships")
	cmd.Flags().StringVar(&program, "program", "", "with --check: the agent's program (default: found on PATH)")
	withLimit(a, cmd)
	cmd.MarkFlagsMutuallyExclusive("check", "dialect")
	_ = cmd.RegisterFlagCompletionFunc("dialect", words(dialects()...))
	_ = cmd.RegisterFlagCompletionFunc("check", words(connect.Names()...))
	return cmd
}

// eventWords are the names and kinds of the contract table.
func eventWords() []string {
	var list []string
	for _, c := range events.All() {
		list = append(list, c.Name, string(c.Kind))
	}
	return list
}

// meantEvent is meant for the name of an event, which may be one of a sender's own.
func meantEvent(name string) string {
	if events.Lookup(name) != nil {
		return ""
	}
	return meant(name, eventWords())
}

// printMisspelled warns of an event that no agent has and whose name is near one of theirs.
func printMisspelled(p *printer, event string) {
	if near := meantEvent(event); near != "" {
		p.linef("%s no agent has the event %s; %s", p.paint(yellow, "warning:"), event, strings.TrimSpace(near))
	}
}

func dialects() []string {
	var names []string
	for _, d := range events.Dialects() {
		names = append(names, string(d))
	}
	return names
}

// selectRows returns the rows of a dialect ("" = all), of a name or kind if
// there is one.
func selectRows(dialect string, args []string) []*events.Contract {
	return slices.DeleteFunc(events.All(), func(c *events.Contract) bool {
		if dialect != "" && string(c.Dialect) != dialect {
			return true
		}
		return len(args) > 0 && c.Name != args[0] && string(c.Kind) != args[0]
	})
}

func printEvents(p *printer, rows []*events.Contract, full bool) {
	if full && (len(rows) == 1 || p.wide) {
		for i, c := range rows {
			if i > 0 {
				p.line()
			}
			printContract(p, c)
		}
		return
	}
	var cells [][]cell
	for _, c := range rows {
		row := []cell{text(c.Name), text(string(c.Dialect)), text(string(c.Kind)), text(strings.Join(powers(c), ", "))}
		if p.wide {
			row = append(row, text(c.When))
		}
		cells = append(cells, row)
	}
	header := []column{{title: "EVENT"}, {title: "DIALECT"}, nameColumn("KIND"), textColumn("HOOKS CAN")}
	if p.wide {
		header = append(header, textColumn("WHEN"))
	}
	p.table(header, cells)
	if full {
		p.line()
		p.linef("All of one: hookd dev events %s --dialect %s; of all: -o wide", rows[0].Name, rows[0].Dialect)
	}
}

func printContract(p *printer, c *events.Contract) {
	order := "side by side"
	if c.Sequence {
		order = "one after another, in registration order"
	}
	p.pairs(
		kv("event", c.Name),
		kv("dialect", string(c.Dialect)),
		kv("kind", string(c.Kind)),
		kv("also", string(c.Also)),
		kv("when", c.When),
		kv("hooks can", p.listed(len(othersCallIt), powers(c))),
		kv("hooks run", order),
		kv(othersCallIt, p.listed(len(othersCallIt), p.few(aliases(c)))),
	)
	if len(c.Fields) == 0 {
		return
	}
	var rows [][]cell
	for _, f := range c.Fields {
		rows = append(rows, []cell{text("  " + f.Name), text(fieldType(f)), text(f.Doc)})
	}
	p.table([]column{{title: "  FIELD"}, nameColumn("TYPE"), textColumn("MEANING")}, rows)
}

const othersCallIt = "others call it"

// fewest is how many names a person gets of a list that is long.
const fewest = 8

// few is a list for people: its first entries, and how many more there are.
func (p *printer) few(list []string) []string {
	if p.wide || len(list) <= fewest+1 {
		return list
	}
	return append(slices.Clone(list[:fewest]), fmt.Sprintf("and %d more", len(list)-fewest))
}

// listed is a list as the value of a pair whose names have so many letters: in lines that fit
// the terminal.
func (p *printer) listed(name int, list []string) string {
	text := strings.Join(list, ", ")
	if room := p.width - name - between; room >= leasts[0] && !p.wide {
		return strings.Join(wrapped(text, room), "\n")
	}
	return text
}

func fieldType(f events.Field) string {
	if f.Nullable {
		return string(f.Type) + " or null"
	}
	return string(f.Type)
}

// aliases names the event as other dialects do.
func aliases(c *events.Contract) []string {
	var names []string
	for _, other := range c.Aliases() {
		if other.Dialect != c.Dialect {
			names = append(names, fmt.Sprintf("%s (%s)", other.Name, other.Dialect))
		}
	}
	return names
}

// powers names the effects that answers of hooks can have on an event.
func powers(c *events.Contract) []string {
	var can []string
	add := func(yes bool, what string) {
		if yes {
			can = append(can, what)
		}
	}
	add(c.CanBlock && c.Decision != events.DecisionVerdict, "deny")
	add(c.Decision == events.DecisionVerdict, "deny, ask or allow")
	add(c.Decision == events.DecisionPermission, "grant or deny permission")
	add(c.Rewrite != events.RewriteNone, "replace "+c.Target)
	add(c.Context, "add context")
	add(c.Summary, "give a summary")
	add(c.Metadata, "add metadata")
	for _, f := range c.Takes {
		add(true, "set "+f.Name)
	}
	add(c.FailClosed, "deny by failing")
	add(len(can) == 0, "observe")
	return can
}

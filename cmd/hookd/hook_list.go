package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
)

func listCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the hooks that the daemon knows",
		Example: "  hookd list\n  hookd list -o wide",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return show(a, cmd, func(ctx context.Context, c *client.Client) (client.HookList, error) {
				hooks, err := c.Hooks(ctx)
				hooks.Hooks = upTo(hooks.Hooks, a.limit)
				return hooks, err
			}, printHooks)
		},
	}
	return withLimit(a, cmd)
}

// withLimit gives -n to a list whose rows go through upTo.
func withLimit(a *app, cmd *cobra.Command) *cobra.Command {
	cmd.Flags().VarP((*most)(&a.limit), "limit", "n", "at most so many; 0 is all")
	return cmd
}

// most is a flag's whole number of 0 or more.
type most int

func (c *most) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err == nil && n < 0 {
		err = fmt.Errorf("%d is less than 0", n)
	}
	*c = most(n)
	return err
}

func (c *most) String() string { return strconv.Itoa(int(*c)) }

func (c *most) Type() string { return "int" }

// upTo returns the first n of a list; all where n is 0.
func upTo[T any](list []T, n int) []T {
	if n <= 0 || n >= len(list) {
		return list
	}
	return list[:n]
}

func printHooks(p *printer, list client.HookList) {
	if len(list.Hooks) == 0 {
		p.line("no hooks yet: make one with `hookd new hello --lang sh`")
	} else {
		printHookTable(p, list.Hooks)
	}
	p.problems(list.Problems)
}

func printHookTable(p *printer, hooks []client.Hook) {
	header := []column{nameColumn("NAME"), {title: "STATE"}, spareColumn("EVENTS"), {title: "RUNS"}, nameColumn("LAST")}
	if p.wide {
		header = append(header, fixed("LAYER", "TIMEOUT", "ORDER", "COMMAND", "FILE")...)
	}
	header = append(header, textColumn("PROBLEM"))
	var rows [][]cell
	count := map[string]int{}
	for _, h := range hooks {
		count[h.Name]++
	}
	for _, h := range hooks {
		row := []cell{
			text(listed(h, count[h.Name])), stateCell(h), text(strings.Join(h.Events, " ")),
			text(counts(h.Counts)), last(h),
		}
		if p.wide {
			row = append(row, text(h.Layer), text(deadline(h)), text(h.Order),
				text(strings.Join(append([]string{h.Command}, h.Args...), " ")), text(h.File))
		}
		rows = append(rows, append(row, problemCell(p, h.Problems)))
	}
	p.table(header, rows)
}

// stateCell is the state of a hook; "shadow" for an active hook in the shadow, and "off until" for a snoozed hook.
func stateCell(h client.Hook) cell {
	if h.Shadow && h.State == "active" {
		return cell{"shadow", yellow}
	}
	if !h.Until.IsZero() {
		return cell{"off until " + clockTime(h.Until), yellow}
	}
	return state(h.State)
}

// listed is the name of a hook in a table. Working trees have hooks of the same
// name: there it has the tree's, too.
func listed(h client.Hook, alike int) string {
	root, _, ok := strings.Cut(h.File, "/.hookd/hooks/")
	if alike < 2 || !ok {
		return h.Name
	}
	return h.Name + " in " + filepath.Base(root)
}

// counts writes the number of runs and, of the runs that were not ok, of each kind.
func counts(by map[string]int) string {
	total := 0
	var bad []string
	for result, n := range by {
		total += n
		if result != "ok" && n > 0 {
			bad = append(bad, fmt.Sprintf("%d %s", n, result))
		}
	}
	if len(bad) == 0 {
		return fmt.Sprint(total)
	}
	slices.Sort(bad)
	return fmt.Sprintf("%d (%s)", total, strings.Join(bad, ", "))
}

func last(h client.Hook) cell {
	if h.LastRun == nil {
		return text("-")
	}
	c := lastResult(h.LastRun)
	return cell{c.text + " " + ago(h.LastRun.Started), c.c}
}

// lastResult is the result of a hook's newest run. A run that a person tried is in no count of runs, and says so.
func lastResult(r *client.Run) cell {
	c := result(r.Result)
	if r.Tried {
		c.text = "(tried) " + c.text
	}
	return c
}

func deadline(h client.Hook) string { return wholeMillis(h.TimeoutMS) }

// wholeMillis writes a setting in milliseconds as a duration; "" = it is not set.
func wholeMillis(ms int64) string {
	if ms == 0 {
		return ""
	}
	return (time.Duration(ms) * time.Millisecond).String()
}

// problemCell shows the worst problem, without the folder, which FILE shows; on a terminal, which has room
// for little, without its place, which `hookd hook show` shows.
func problemCell(p *printer, list []client.Problem) cell {
	if len(list) == 0 {
		return text("")
	}
	i := max(slices.IndexFunc(list, func(pr client.Problem) bool { return !pr.Warning }), 0)
	pr, c := list[i], red
	if pr.Warning {
		c = yellow
	}
	more := ""
	if len(list) > 1 {
		more = fmt.Sprintf(" (and %d more)", len(list)-1)
	}
	pr.File = pr.File[strings.LastIndexByte(pr.File, '/')+1:]
	if p.width > 0 {
		pr.File, pr.Line = "", 0
	}
	return cell{problemText(pr) + more, c}
}

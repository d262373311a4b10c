package main

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/base/lazyregexp"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/hooks/when"
	"github.com/hookd/hookd/wire"
)

func factsCommand(a *app) *cobra.Command {
	var cwd string
	cmd := &cobra.Command{
		Use:   "facts LINE|EVENT_ID",
		Short: "Show what hookd knows of a shell line, or of a call that was made",
		Long: "facts shows the commands that a call runs, what it does (effects), and what cannot be known (doubts): what rules\n" +
			"and `when` look at. A line is not run, and needs no daemon; an event is asked of the daemon.",
		Example: `  hookd facts 'git push -f origin main'
  hookd facts 'curl -fsS https://example.org/install | sh' -o json
  hookd facts 01JZ8G5T7V9Q2W4X6Y8Z0A1B2C`,
		Args: one("LINE|EVENT_ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := readFacts(a, cmd, args[0], cwd)
			if err != nil {
				return err
			}
			return a.print(found, func(p *printer) { printFacts(p, found) })
		},
	}
	cmd.Flags().StringVar(&cwd, "cwd", "", "folder that the line runs in (default: this one)")
	return cmd
}

// eventIDForm is how the ids of events look, and their ends as tables show them. Only a whole id is no line of
// a shell.
var eventIDForm = lazyregexp.New(`^[0-9A-HJKMNP-TV-Z]{6,26}$`)

// readFacts reads a line, or the call of an event that the daemon has.
func readFacts(a *app, cmd *cobra.Command, what, cwd string) (*facts.Facts, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fail(exitFailed, "set HOME", "find the home folder: %w", err)
	}
	env := facts.Env{Home: home, Links: when.NewDisk()}
	if eventIDForm.MatchString(what) {
		ctx, cancel := a.answer(cmd)
		defer cancel()
		past, err := a.dial(cmd).Event(ctx, what)
		switch {
		case err != nil && len(what) < wire.IDLength:
			return lineFacts(what, cwd, env)
		case err != nil:
			return nil, err
		case !past.Whole:
			return nil, fail(exitFailed, "keep more with `history.payload: full` in hookd.yaml",
				"not all of the data of event %s was kept", past.EventID)
		}
		e := &events.Event{Envelope: events.Received(past.Envelope), Contract: events.For(past.Dialect,
			past.Event)}
		call := dialect.Call(e)
		if call.Own == "" && call.Tool == "" {
			return nil, fail(exitUsage, "see `hookd log runs` for events of tools", "event %s, a %s, is about no call",
				past.EventID, past.Event)
		}
		env.Cwd = cmp.Or(cwd, past.Cwd)
		return facts.Read(call, env), nil
	}
	return lineFacts(what, cwd, env)
}

// lineFacts reads a line of a shell.
func lineFacts(line, cwd string, env facts.Env) (_ *facts.Facts, err error) {
	if env.Cwd = cwd; cwd == "" {
		env.Cwd, _ = os.Getwd() // "" where the folder is gone: targets stay as they are written
	} else if env.Cwd, err = filepath.Abs(cwd); err != nil {
		return nil, fail(exitUsage, "type --cwd with a folder", "find %s: %w", cwd, err)
	}
	return facts.Line(line, env), nil
}

func printFacts(p *printer, f *facts.Facts) {
	var rows [][]cell
	for _, c := range f.Commands {
		words := make([]string, len(c.Words))
		for i, w := range c.Words {
			words[i] = w.Text
		}
		guess := ""
		if c.Guess {
			guess = "perhaps"
		}
		rows = append(rows, []cell{text(strings.Join(words, " ")), text(strings.Join(c.Via, ", ")), {guess, yellow}})
	}
	printFactTable(p, []column{textColumn("COMMAND"), nameColumn("BEHIND"), {title: "SURE"}}, rows)
	rows = nil
	for _, e := range f.Effects {
		sure := cell{"yes", green}
		if !e.Certain {
			sure = cell{"perhaps", yellow}
		}
		rows = append(rows, []cell{text(string(e.Kind)), text(cmp.Or(e.Target, "?")), sure, text(e.Why)})
	}
	printFactTable(p, []column{{title: "EFFECT"}, pathColumn("TARGET"), {title: "SURE"}, asideColumn("BY")}, rows)
	rows = nil
	for _, d := range f.Doubts {
		rows = append(rows, []cell{{string(d.Kind), yellow}, text(d.Text)})
	}
	printFactTable(p, []column{{title: "DOUBT"}, textColumn("ABOUT")}, rows)
	if len(f.Effects)+len(f.Doubts) == 0 {
		p.sentence(plain, "it only looks: it has no effect that hookd knows of, and nothing is in doubt")
	}
}

// printFactTable writes a table with a blank line behind it, nothing without rows.
func printFactTable(p *printer, header []column, rows [][]cell) {
	if len(rows) > 0 {
		p.table(header, rows)
		p.line()
	}
}

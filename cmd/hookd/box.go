package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/run/contain"
)

// boxReport is the answer of `box --check`.
type boxReport struct {
	Checks []contain.Check `json:"checks"`
}

func boxCommand(a *app) *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "box",
		Short: "Show which boxes this machine can make, and test them",
		Long: `Say which boxes this machine makes for calls that hooks contain: each kind is
attacked, and what works without a box must have no effect in one. That needs a
folder of its own in your home, which goes again. The exit code is 1 when an
attack got out, when something does not work in a box, or when the machine makes
none. Where it lacks one kind only, calls that hooks contain there are asked about.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return checkBoxes(a, cmd, check) },
	}
	cmd.Flags().BoolVar(&check, "check", false, "show everything that was tried")
	return cmd
}

func checkBoxes(a *app, cmd *cobra.Command, all bool) error {
	home, err := os.UserHomeDir()
	if err != nil {
		return fail(exitFailed, "", "find your home: %w", err)
	}
	bridge, err := bridgePath()
	if err != nil {
		return err
	}
	list, err := contain.CheckMachine(cmd.Context(), bridge, home)
	if err != nil {
		return fail(exitFailed, "", "%w", err)
	}
	if err := a.print(boxReport{list}, func(p *printer) { printBoxes(p, list, all) }); err != nil {
		return err
	}
	return boxesHold(list)
}

// boxesHold is the error of a machine whose boxes do not hold, or that makes none. One that makes some is as it should
// be: hooks ask in place of the others.
func boxesHold(list []contain.Check) error {
	some := false
	for _, c := range list {
		switch c.Result {
		case contain.Reached, contain.Broken:
			return fail(exitFailed, "let hooks ask where they contain, and report it", "a box does not hold: %s", c.Try)
		case contain.NoBox:
		default:
			some = true
		}
	}
	if !some {
		return fail(exitFailed, "calls that hooks contain are asked about", "this machine makes no box")
	}
	return nil
}

// printBoxes prints each kind of box with a line for each thing that was tried, or with their sum.
func printBoxes(p *printer, list []contain.Check, all bool) {
	for _, profile := range contain.Names(nil) {
		hold, of, none, weaker := 0, 0, "", ""
		for _, c := range list {
			switch {
			case c.Profile != profile || c.Result == contain.Skipped:
			case c.Try == contain.MakeBox && c.Result == contain.Works:
				weaker = c.Detail
			case c.Result == contain.NoBox:
				none = c.Detail
			case c.Result == contain.Kept || c.Result == contain.Works:
				hold, of = hold+1, of+1
			default:
				of++
			}
		}
		if none != "" {
			const says = "cannot be made: calls that hooks contain there are asked about"
			p.line(p.paint(bold, profile), "  ", p.paint(yellow, says))
			p.line("  ", p.paint(dim, escape(none, keepNothing)))
			continue
		}
		p.line(p.paint(bold, profile))
		if all {
			printBoxChecks(p, list, profile)
		}
		p.linef("  %d of %d checks hold", hold, of)
		if weaker != "" && !all {
			p.line("  ", p.paint(dim, escape(weaker, keepNothing)))
		}
	}
}

func printBoxChecks(p *printer, list []contain.Check, profile string) {
	words := map[string]string{
		contain.Kept: p.paint(green, "kept   "), contain.Works: p.paint(green, "works  "),
		contain.Reached: p.paint(red, "reached"), contain.Broken: p.paint(red, "broken "),
		contain.Skipped: p.paint(dim, "skipped"),
	}
	for _, c := range list {
		if c.Profile != profile {
			continue
		}
		p.line("  ", words[c.Result], "  ", c.Try)
		if c.Detail != "" {
			p.line("           ", p.paint(dim, escape(c.Detail, keepNothing)))
		}
	}
}

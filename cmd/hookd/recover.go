package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/people/card"
)

func recoverCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "recover",
		Short: "Run events that were set aside when a disk failed",
		Long: `recover reads the files that hookd has set aside because it could not read them, or
because they were damaged, and runs each accepted event in them that the history
does not have. A file that still cannot be read stays, and its loss too. No file is
deleted: the name of a file that was read ends in .taken-back. A loss without a file is noted as
seen. The exit code is 1 when a file could not be read.

` + "`hookd status` and `hookd doctor`" + ` tell what was lost or set aside.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			did, err := a.dial(cmd).Recover(cmd.Context())
			if err != nil {
				return err
			}
			if err := a.print(did, func(p *printer) { printRecovered(p, did) }); err != nil {
				return err
			}
			for _, l := range did.Losses {
				if l.Error != "" {
					return said(exitFailed)
				}
			}
			return nil
		},
	}
}

func printRecovered(p *printer, did client.Recovered) {
	if len(did.Losses) == 0 {
		p.line("nothing was lost or set aside")
	}
	for _, l := range did.Losses {
		name := l.Loss.Path
		if name == "" {
			name = l.Loss.Why
		}
		p.line(escape(name, keepNothing))
		switch {
		case l.Error != "":
			p.line("  " + p.paint(red, "it stays") + ": " + escape(l.Error, keepNothing))
			p.line("  mend or restore the file, then type `hookd recover`")
		case l.Loss.Path == "":
			p.line("  there is no file to read: noted as seen")
		default:
			text := "  " + card.Plural(l.Events, "event") + " run now"
			if l.Events == 0 {
				text = "  it has no event that the history does not have"
			}
			if l.Unreadable > 0 {
				text += fmt.Sprintf("; %s cannot be read", card.Plural(l.Unreadable, "part"))
			}
			p.line(text)
			p.line("  the file is kept as " + escape(l.Kept, keepNothing))
		}
	}
}

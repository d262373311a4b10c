package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/people/attack"
)

// attackReport is the answer of `doctor --attack`.
type attackReport struct {
	Attempts []attack.AttackResult `json:"attempts"`
}

// runAttacks tries the attacks of an agent on its guards, as this user.
func runAttacks(a *app, cmd *cobra.Command) error {
	if os.Geteuid() == 0 {
		return fail(exitUsage, "type `sudo -u USER hookd doctor --attack` with the user that agents run as",
			"root may do everything: there is nothing to try")
	}
	bridge, err := bridgePath()
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return fail(exitFailed, "type its whole path", "find this program: %w", err)
	}
	mode := "auto"
	if cfg, err := loadConfig(cmd); err == nil {
		mode = cfg.ReloadMode
	}
	list, err := attack.Run(cmd.Context(), attack.Options{Program: program, Bridge: bridge, Mode: mode})
	if err != nil {
		return fail(exitFailed, "see what is wrong with `hookd doctor`", "%w", err)
	}
	return a.print(attackReport{list}, func(p *printer) { printAttacks(p, list, mode) })
}

// printAttacks prints which attacks worked, and how to see them.
func printAttacks(p *printer, list []attack.AttackResult, mode string) {
	titles := map[string]string{
		attack.Own:     "Your own hooks and daemon, tried on copies with reload.mode: " + mode,
		attack.System:  "The system daemon",
		attack.Outside: "Past every guard",
	}
	layer, worked := "", 0
	for _, r := range list {
		if r.Layer != layer {
			layer = r.Layer
			p.line(p.paint(bold, titles[layer]))
		}
		word := p.paint(green, "stopped  ")
		switch {
		case !r.Tried:
			word = p.paint(dim, "not tried")
		case r.Worked:
			word, worked = p.paint(red, "worked   "), worked+1
		}
		p.line("  ", word, "  ", escape(r.What, keepNothing))
		p.line("             ", p.paint(dim, escape(r.Seen, keepNothing)))
	}
	p.linef("%d of %d attempts worked; docs/reference/security.md says what follows from that", worked, len(list))
}

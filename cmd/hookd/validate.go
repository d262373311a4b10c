package main

import (
	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/wire"
)

func validateCommand(a *app) *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use:   "validate [PATH…]",
		Short: "Check hook folders without running anything",
		Long: `validate checks hook folders, or folders of hook folders, and the settings; the
hooks directory when no path is given. It needs no daemon. The exit code is 5
when something would be rejected.`,
		Example: "  hookd validate\n  hookd validate ./my-hook --strict",
		RunE: withConfig(func(cmd *cobra.Command, args []string, cfg config.Config) error {
			return validate(a, cfg, args, strict)
		}),
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "reject unknown keys too")
	settingFlags(cmd, "hooks_dir")
	return cmd
}

// validate checks paths, or all hooks and the settings without one.
func validate(a *app, cfg config.Config, paths []string, strict bool) error {
	v, err := catalog.Validate(cfg, paths, strict)
	if err != nil {
		return fail(exitRejected, "name a folder with a HOOK.yaml, or make one with `hookd new hello --lang sh`", "%w", err)
	}
	if err := a.print(v, func(p *printer) { printValidation(p, v) }); err != nil {
		return err
	}
	if rejected(v) > 0 {
		return said(exitRejected)
	}
	return nil
}

func rejected(v wire.Validation) int {
	n := 0
	for _, h := range v.Hooks {
		if !h.OK {
			n++
		}
	}
	return n
}

func printValidation(p *printer, v wire.Validation) {
	for _, h := range v.Hooks {
		word, c := "ok", green
		switch {
		case !h.OK:
			word, c = "rejected", red
		case len(h.Problems) > 0:
			word, c = "ok, with warnings", yellow
		}
		p.line(escape(h.File, keepNothing), ": ", p.paint(c, word))
		p.problems(h.Problems)
	}
	switch n := rejected(v); {
	case len(v.Hooks) == 0:
		p.line("no hook folders there; make one with `hookd new hello --lang sh`")
	case n > 0:
		p.linef("%d of %d rejected: correct what is wrong, then type `hookd validate` again", n, len(v.Hooks))
	}
}

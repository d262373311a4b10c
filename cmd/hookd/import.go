package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/agents/importer"
)

func importCommand(a *app) *cobra.Command {
	var f connectFlags
	cmd := &cobra.Command{
		Use:   "import " + strings.Join(importer.Agents(), "|"),
		Short: "Make hooks of the hooks in an agent's own settings",
		Long: `import reads the hooks that stand in an agent's settings and writes a folder for each
that does the same as one of hookd's. What cannot be taken over is named, with the
reason, and stays with the agent. The settings are only read.

The new hooks are switched off: as long as the agent has them too they would run
twice. Take them out of the settings, then type ` + "`hookd enable HOOK`" + `. Typing import
again imports nothing twice.`,
		Example: `  hookd import claude-code --dry-run
  hookd import codex --project .`,
		Args:              one("AGENT: " + strings.Join(importer.Agents(), ", ")),
		ValidArgsFunction: words(importer.Agents()...),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(importer.Agents(), args[0]) {
				return fail(exitUsage, "type `hookd import claude-code --dry-run`; for others see docs/migrating.md",
					"hooks of %q cannot be imported; hooks of %s can", args[0], strings.Join(importer.Agents(), ", "))
			}
			return importHooks(a, cmd, args[0], f)
		},
	}
	cmd.Flags().StringVar(&f.project, "project", "", "the settings of the project in this folder, not the user's own")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "show what would be made, and make nothing")
	_ = cmd.MarkFlagDirname("project")
	settingFlags(cmd, "hooks_dir")
	return cmd
}

// imported is the answer of import.
type imported struct {
	importer.Plan
	Connected bool `json:"connected"` // the agent calls hookd: what is taken out of its settings still runs
	DryRun    bool `json:"dry_run,omitempty"`
}

func importHooks(a *app, cmd *cobra.Command, agent string, f connectFlags) error {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	p, err := importer.Read(importer.Options{
		Connect: f.options(cmd, agent), HooksDir: cfg.HooksDir, DisabledDir: cfg.DisabledDir(),
	})
	var file *connect.FileError
	switch {
	case errors.As(err, &file):
		return fail(exitRejected, "correct the file, then type `hookd import "+agent+"`", "%w", err)
	case err != nil:
		return fail(exitFailed, "see the file's permissions, then type `hookd import "+agent+"`", "%w", err)
	}
	if !f.dry {
		if err := p.Apply(); err != nil {
			return fail(exitFailed, "see the folder's permissions, then type `hookd import "+agent+"`", "%w", err)
		}
	}
	answer := imported{p, connect.Inspect(f.options(cmd, agent)).State == connect.Connected, f.dry}
	return a.print(answer, answer.print)
}

func (i imported) print(p *printer) {
	if len(i.Hooks)+len(i.Left) == 0 {
		p.linef("%s has no hooks of its own", i.File)
		return
	}
	made := ""
	for _, h := range i.Hooks {
		state, c := "made, off", green
		switch {
		case h.There:
			state, c = "there", dim
		case i.DryRun:
			state = "would make"
		}
		about := h.Event
		if h.Matcher != "" {
			about += " of " + h.Matcher
		}
		state = fmt.Sprintf("%-11s", state)
		p.line(p.paint(c, state), " ", escape(h.Name+": "+about+": "+shorten(h.Command, 200), keepNothing))
		for _, n := range h.Notes {
			p.linef("%12s%s", "", n)
		}
		if !h.There {
			made = h.Name
		}
	}
	for _, l := range i.Left {
		p.line(p.paint(yellow, "left       "), " ", escape(l.Event+": "+shorten(l.Command, 200), keepNothing))
		p.linef("%12s%s", "", l.Why)
	}
	if made == "" || i.DryRun {
		return
	}
	if !i.Connected {
		p.linef("next: hookd connect %s", i.Agent)
	}
	p.linef("next: take them out of %s, then type: hookd enable %s", i.File, made)
}

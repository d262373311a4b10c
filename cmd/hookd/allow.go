package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/daemon"
)

func allowCommand(a *app) *cobra.Command {
	var yes, all bool
	cmd := &cobra.Command{
		Use:   "allow [HOOK]",
		Short: "Put a new or changed hook into force, with reload.mode: ask",
		Long: `allow shows what is new about a hook and, when you agree, stores the digest of
its HOOK.yaml and of the programs in its folder, so that a daemon with
reload.mode: ask runs it. Without HOOK it lists what waits. What was allowed
before stays in force until then. It asks on a terminal and refuses without one
unless --yes.`,
		Example: `  hookd allow
  hookd allow guard-rm`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: hookNames(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			waiting := daemon.Waiting(cfg)
			if len(args) == 0 && !all {
				return a.print(waiting, func(p *printer) { p.waiting(cfg, waiting) })
			}
			chosen, err := choose(cfg, waiting, args)
			if err != nil {
				return err
			}
			if len(chosen) == 0 {
				return a.print(chosen, func(p *printer) { p.line("nothing of that waits: it is allowed as it is") })
			}
			return a.allow(cmd, cfg, chosen, yes, args)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&all, "all", false, "allow all that wait")
	settingFlags(cmd, "hooks_dir", "reload.mode")
	return cmd
}

// choose finds what is to be allowed: the hook that is named, else all. It is
// empty for a hook that does not wait.
func choose(cfg config.Config, waiting []daemon.Pending, args []string) ([]daemon.Pending, error) {
	if len(args) == 0 {
		return waiting, nil
	}
	chosen := []daemon.Pending{}
	for _, w := range waiting {
		if w.Hook == args[0] || w.Name == args[0] {
			chosen = append(chosen, w)
		}
	}
	if len(chosen) > 0 {
		return chosen, nil
	}
	return nil, known(cfg, args[0])
}

// allow shows, asks, stores, and makes a running daemon take note.
func (a *app) allow(cmd *cobra.Command, cfg config.Config, chosen []daemon.Pending, yes bool, args []string) error {
	again := "hookd allow --all --yes"
	if len(args) > 0 {
		again = "hookd allow " + daemon.Quoted(args[0]) + " --yes"
	}
	if !yes && a.format != "json" {
		p := a.printer(a.out)
		for _, w := range chosen {
			p.pending(w)
		}
	}
	names := make([]string, len(chosen))
	for i, w := range chosen {
		names[i] = w.Name
	}
	if err := a.confirm(yes, "Allow "+strings.Join(names, ", ")+" to run as shown?", again); err != nil {
		return err
	}
	for _, w := range chosen {
		if err := daemon.Allow(cfg, w); err != nil {
			return fail(exitFailed, "see the folder's permissions, then type `"+again+"`", "%w", err)
		}
	}
	return a.allowed(cmd, cfg, chosen)
}

// allowed is the answer.
func (a *app) allowed(cmd *cobra.Command, cfg config.Config, chosen []daemon.Pending) error {
	ctx, cancel := a.answer(cmd)
	defer cancel()
	_, err := a.dial(cmd).Reload(ctx)
	if err != nil && !isRejection(err) && !errors.Is(err, client.ErrNotRunning) { // a rejection is of another hook's file
		return err
	}
	return a.print(chosen, func(p *printer) {
		for _, w := range chosen {
			p.linef("hook %s is allowed, digest %.12s", w.Name, w.Digest)
			if w.Refused != "" {
				p.line(p.paint(yellow, "but it will not run: "), escape(w.Refused, keepNothing))
			}
		}
		if errors.Is(err, client.ErrNotRunning) {
			p.line("no daemon runs; the next `hookd serve` will know")
		}
		p.mode(cfg)
	})
}

// waiting lists what waits.
func (p *printer) waiting(cfg config.Config, list []daemon.Pending) {
	if len(list) == 0 {
		p.line("nothing waits to be allowed")
		p.mode(cfg)
		return
	}
	var rows [][]cell
	for _, w := range list {
		what := strings.Join(w.Changes, ", ")
		if w.New {
			what = "new: " + w.File
		}
		rows = append(rows, []cell{text(w.Name), text(fmt.Sprintf("%.12s", w.Digest)), text(what)})
	}
	p.table([]string{"HOOK", "DIGEST", "WHAT"}, rows)
	p.line("look at one and allow it with `hookd allow HOOK`")
	p.mode(cfg)
}

// mode says when allowing makes no difference yet.
func (p *printer) mode(cfg config.Config) {
	if cfg.ReloadMode != "ask" {
		p.linef("reload.mode is %s, so hooks run without being allowed; set `reload: {mode: ask}` in hookd.yaml to change that", cfg.ReloadMode)
	}
}

// pending shows one hook that waits, line by line.
func (p *printer) pending(w daemon.Pending) {
	state := "changed"
	if w.New {
		state = "new"
	}
	p.pairs(kv("hook", w.Name), kv("state", state), kv("file", w.File), kv("digest", w.Digest), kv("changes", strings.Join(w.Changes, "\n")),
		pair{"refused", cell{w.Refused, red}})
	for _, t := range w.Diffs {
		p.line(p.paint(bold, escape(t.Path, keepNothing)))
		for _, l := range diffLines(t.Old, t.New) {
			p.line("  ", p.paint(map[byte]colour{'+': green, '-': red}[l[0]], escape(l, keepTabs)))
		}
	}
}

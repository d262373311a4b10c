package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/people/hookfiles"
)

func allowCommand(a *app) *cobra.Command {
	var yes, all, settings bool
	var gone string
	cmd := &cobra.Command{
		Use:   "allow [HOOK]",
		Short: "Put a new or changed hook into force, with reload.mode: ask",
		Long: `allow shows what is new about a hook and, when you agree, stores the digest of
its HOOK.yaml and of the programs in its folder, so that a daemon with
reload.mode: ask runs it. Without HOOK it lists what waits. What was allowed
before stays in force until then. It asks on a terminal and refuses without one
unless --yes.

A hook with a say in verdicts that was allowed and is not there any more denies
until --gone has named it, whatever took it away; a hook that is switched off by
anything but ` + "`hookd disable`" + ` stays in force. Settings of hookd.yaml that change
what runs keep their values until --settings.`,
		Example: `  hookd allow
  hookd allow guard-rm
  hookd allow --gone guard-rm
  hookd allow --settings`,
		Args:              atMostOne,
		ValidArgsFunction: hookNames(a),
		RunE: withConfig(func(cmd *cobra.Command, args []string, cfg config.Config) error {
			switch {
			case settings && (all || gone != "" || len(args) > 0) || gone != "" && (all || len(args) > 0):
				return fail(exitUsage, "see `hookd allow --help`", "--settings, --gone, --all and a hook are one at a time")
			case settings:
				return allowSettings(a, cmd, cfg, yes)
			}
			waiting := catalog.Waiting(cfg)
			if gone != "" {
				return allowGone(a, cmd, cfg, waiting, gone, yes)
			}
			if len(args) == 0 && !all {
				return a.print(waiting, func(p *printer) { printWaiting(p, cfg, waiting) })
			}
			chosen, err := choose(cfg, waiting, args)
			if err != nil {
				return err
			}
			if len(chosen) == 0 {
				return a.print(chosen, func(p *printer) { p.line("nothing of that waits: it is allowed as it is") })
			}
			return allowChosen(a, cmd, cfg, chosen, yes, args)
		}),
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&all, "all", false, "allow all new and changed hooks that wait")
	cmd.Flags().StringVar(&gone, "gone", "", "allow that this hook is gone or disabled")
	cmd.Flags().BoolVar(&settings, "settings", false, "allow hookd.yaml as it is now")
	_ = cmd.RegisterFlagCompletionFunc("gone", hookNames(a))
	settingFlags(cmd, "hooks_dir", "reload.mode")
	return cmd
}

// choose finds the hooks to allow: the named hook, else all new or changed
// hooks. The list is empty for a hook that does not wait.
func choose(cfg config.Config, waiting []catalog.Pending, args []string) ([]catalog.Pending, error) {
	chosen := []catalog.Pending{}
	for _, w := range waiting {
		named := len(args) > 0 && (w.Hook == args[0] || w.Name == args[0])
		if named && w.Gone {
			return nil, fail(exitFailed, "type `hookd allow --gone "+quote(args[0])+"`",
				"hook %s %s, which is another thing to allow", args[0], w.Changes[0])
		}
		if named || len(args) == 0 && !w.Gone {
			chosen = append(chosen, w)
		}
	}
	if len(args) == 0 || len(chosen) > 0 {
		return chosen, nil
	}
	_, err := entryOf(cfg, args[0])
	return nil, err
}

// allowChosen shows, asks, stores, and has a running daemon reload.
func allowChosen(
	a *app, cmd *cobra.Command, cfg config.Config, chosen []catalog.Pending, yes bool, args []string,
) error {
	again := "hookd allow --all --yes"
	if len(args) > 0 {
		again = "hookd allow " + quote(args[0]) + " --yes"
	}
	if !yes && a.format != "json" {
		p := a.printer(a.out)
		for _, w := range chosen {
			printPending(p, w)
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
		if err := catalog.Allow(cfg, w); err != nil {
			return fail(exitFailed, "see the folder's permissions, then type `"+again+"`", "%w", err)
		}
	}
	return finishAllow(a, cmd, cfg, chosen)
}

// allowGone allows that a hook is gone, or switched off.
func allowGone(a *app, cmd *cobra.Command, cfg config.Config, waiting []catalog.Pending, name string, yes bool) error {
	again := "hookd allow --gone " + quote(name) + " --yes"
	var chosen []catalog.Pending
	for _, w := range waiting {
		if w.Gone && (w.Hook == name || w.Name == name) {
			chosen = append(chosen, w)
		}
	}
	if len(chosen) == 0 {
		return fail(exitFailed, "see what waits with `hookd allow`", "hook %s is not gone: nothing of that waits", name)
	}
	if err := a.confirm(yes, fmt.Sprintf("Hook %s %s. Allow that it guards nothing any more?", name,
		chosen[0].Changes[0]), again); err != nil {
		return err
	}
	for _, w := range chosen {
		if err := catalog.Allow(cfg, w); err != nil {
			return fail(exitFailed, "see the folder's permissions, then type `"+again+"`", "%w", err)
		}
	}
	return finishAllow(a, cmd, cfg, chosen)
}

// allowedSettings is the answer of allow --settings.
type allowedSettings struct {
	File    string   `json:"file"`
	Allowed []string `json:"allowed"` // keys
}

// allowSettings shows the waiting settings of hookd.yaml and allows them.
func allowSettings(a *app, cmd *cobra.Command, cfg config.Config, yes bool) error {
	done := allowedSettings{File: filepath.Join(cfg.Home, "hookd.yaml"), Allowed: cfg.Held}
	if len(cfg.Held) == 0 {
		done.Allowed = []string{}
		return a.print(done, func(p *printer) {
			p.line("no setting waits to be allowed")
			printAllowMode(p, cfg)
		})
	}
	if !yes && a.format != "json" {
		p := a.printer(a.out)
		p.pairs(kv("file", done.File), kv("settings", strings.Join(cfg.Held, ", ")))
		p.diff(string(cfg.AllowedText), string(cfg.File))
	}
	const again = "hookd allow --settings --yes"
	if err := a.confirm(yes, "Allow "+strings.Join(cfg.Held, ", ")+" of hookd.yaml as shown?", again); err != nil {
		return err
	}
	if err := catalog.AllowSettings(cfg); err != nil {
		return fail(exitFailed, "see the folder's permissions, then type `"+again+"`", "%w", err)
	}
	running, err := a.reloadDaemon(cmd)
	if err != nil {
		return err
	}
	return a.print(done, func(p *printer) {
		p.linef("settings are allowed: %s", strings.Join(cfg.Held, ", "))
		p.taken(running)
	})
}

// reloadDaemon makes a running daemon read hooks again, and reports whether one runs.
func (a *app) reloadDaemon(cmd *cobra.Command) (running bool, err error) {
	ctx, cancel := a.answer(cmd)
	defer cancel()
	_, err = a.dial(cmd).Reload(ctx)
	if errors.Is(err, client.ErrNotRunning) {
		return false, nil
	}
	if err != nil && !isRejection(err) && !leftToDaemon(err) { // a rejection is of another hook's file
		return true, err
	}
	return true, nil
}

// taken says that nothing has taken note of a change where no daemon runs.
func (p *printer) taken(running bool) {
	if !running {
		p.line("no daemon runs; the next `hookd daemon start` will know")
	}
}

// finishAllow has a running daemon reload, and prints the allowed hooks.
func finishAllow(a *app, cmd *cobra.Command, cfg config.Config, chosen []catalog.Pending) error {
	running, err := a.reloadDaemon(cmd)
	if err != nil {
		return err
	}
	return a.print(chosen, func(p *printer) {
		for _, w := range chosen {
			if w.Gone {
				p.linef("hook %s %s, which is allowed: it guards nothing any more", w.Name, w.Changes[0])
				continue
			}
			p.linef("hook %s is allowed, digest %.12s", w.Name, w.Digest)
			if w.Refused != "" {
				p.line(p.paint(yellow, "but it will not run: "), escape(w.Refused, keepNothing))
			}
		}
		p.taken(running)
		printAllowMode(p, cfg)
	})
}

// printWaiting lists the settings and hooks that wait.
func printWaiting(p *printer, cfg config.Config, list []catalog.Pending) {
	if len(cfg.Held) > 0 {
		p.linef("settings of hookd.yaml wait: %s; allow them with `hookd allow --settings`", strings.Join(cfg.Held, ", "))
	}
	if len(list) == 0 {
		if len(cfg.Held) == 0 {
			p.line("nothing waits to be allowed")
		}
		printAllowMode(p, cfg)
		return
	}
	var rows [][]cell
	for _, w := range list {
		what := strings.Join(w.Changes, ", ")
		switch {
		case w.New:
			what = "new: " + w.File
		case w.Gone:
			what += ": `hookd allow --gone " + quote(w.Name) + "`"
		}
		rows = append(rows, []cell{text(w.Name), text(fmt.Sprintf("%.12s", w.Digest)), text(what)})
	}
	p.table([]column{hookColumn("HOOK"), {title: "DIGEST"}, textColumn("WHAT")}, rows)
	p.line("look at one and allow it with `hookd allow HOOK`")
	printAllowMode(p, cfg)
}

// printAllowMode says when allowing makes no difference yet.
func printAllowMode(p *printer, cfg config.Config) {
	if cfg.ReloadMode != "ask" {
		p.linef("reload.mode is %s, so your own hooks run without being allowed; set `reload: {mode: ask}` in hookd.yaml to change that", cfg.ReloadMode)
	}
}

// printPending shows one hook that waits, line by line.
func printPending(p *printer, w catalog.Pending) {
	state := "changed"
	if w.New {
		state = "new"
	}
	p.pairs(kv("hook", w.Name), kv("state", state), kv("file", w.File), kv("digest", w.Digest),
		kv("changes", strings.Join(w.Changes, "\n")),
		pair{"refused", cell{w.Refused, red}})
	printFileDiffs(p, w)
}

// printFileDiffs shows the differences in the files of a hook that waits.
func printFileDiffs(p *printer, w catalog.Pending) {
	for _, t := range w.Diffs {
		p.line(p.paint(bold, escape(t.Path, keepNothing)))
		p.diff(t.Old, t.New)
	}
	for _, path := range w.Hidden {
		p.linef("%s is too long to be shown: look at it with `less %s`", path, quote(path))
	}
}

func (p *printer) diff(before, after string) {
	for _, l := range hookfiles.Lines(before, after) {
		p.line("  ", p.paint(map[byte]colour{'+': green, '-': red}[l[0]], escape(l, keepTabs)))
	}
}

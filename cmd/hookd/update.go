package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/hooks/pack"
)

// outdatedPack is Outdated for one pack, with its error.
type outdatedPack struct {
	pack.Newer
	Error string `json:"error,omitempty"`
}

func outdatedCommand(a *app) *cobra.Command {
	return withLimit(a, &cobra.Command{
		Use:   "outdated",
		Short: "List the packs that have a newer version at their source",
		Long: `outdated looks where each pack came from. It changes nothing. A pack at a tag or a
commit stays there until ` + "`hookd update NAME@REV`" + ` names another. The exit code is 1
when something is newer.`,
		Args: noArgs,
		RunE: withConfig(func(cmd *cobra.Command, _ []string, cfg config.Config) error {
			list, err := outdatedPacks(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			list = upTo(list, a.limit)
			if err := a.print(list, func(p *printer) { printOutdated(p, list) }); err != nil {
				return err
			}
			if slices.ContainsFunc(list, func(o outdatedPack) bool { return o.Outdated || o.Error != "" }) {
				return said(exitFailed)
			}
			return nil
		}),
	})
}

func outdatedPacks(ctx context.Context, cfg config.Config) ([]outdatedPack, error) {
	lock, err := pack.NewHome(cfg.Home).Lock()
	if err != nil {
		return nil, fail(exitRejected, "restore hooks.lock, or move it away", "%w", err)
	}
	list := []outdatedPack{}
	for _, name := range slices.Sorted(maps.Keys(lock.Packs)) {
		newer, err := pack.Outdated(ctx, name, lock.Packs[name])
		o := outdatedPack{Newer: newer}
		if err != nil {
			o.Error = err.Error()
		}
		list = append(list, o)
	}
	return list, nil
}

func printOutdated(p *printer, list []outdatedPack) {
	if len(list) == 0 {
		p.line("no packs: add one with `hookd add gallery/command-guard`")
		return
	}
	rows := [][]cell{}
	for _, o := range list {
		latest := cell{o.Latest, plain}
		switch {
		case o.Error != "":
			latest = cell{"cannot be looked at", red}
		case o.Outdated:
			latest.c = yellow
		default:
			latest.text = "the same"
		}
		rows = append(rows, []cell{text(o.Name), text(o.Have), latest})
	}
	p.table([]column{nameColumn("PACK"), nameColumn("HAVE"), nameColumn("LATEST")}, rows)
	for _, o := range list {
		switch {
		case o.Error != "":
			p.line(p.paint(red, "error:"), " ", escape(o.Name+": "+o.Error, keepNothing))
		case o.Outdated:
			what := o.Name
			if o.Revision != "" {
				what += "@" + o.Revision
			}
			p.linef("%s: type `hookd update %s`", strings.TrimPrefix(o.Name+": "+o.Why, ": "), quote(what))
		}
	}
}

func updateCommand(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "update [NAME[@REV]]",
		Short: "Bring packs up to date, after showing what differs",
		Long: `update gets what a pack's branch, folder or gallery holds now, shows what differs
and, when you agree, puts it in place. Hooks that are another then wait to be
allowed again, on a terminal it asks for each; the others go on. A pack at a tag
or a commit changes only to the REV that is named. Without NAME all packs are
looked at.`,
		Example: "  hookd update\n  hookd update team@v1.3.0",
		Args:    atMostOne, ValidArgsFunction: packNames,
		RunE: withConfig(func(cmd *cobra.Command, args []string, cfg config.Config) error {
			if len(args) == 1 {
				name, revision, _ := strings.Cut(args[0], "@")
				return updatePack(a, cmd, cfg, name, revision, yes)
			}
			lock, err := pack.NewHome(cfg.Home).Lock()
			if err != nil {
				return fail(exitRejected, "restore hooks.lock, or move it away", "%w", err)
			}
			for _, name := range slices.Sorted(maps.Keys(lock.Packs)) {
				if err := updatePack(a, cmd, cfg, name, "", yes); err != nil {
					return err
				}
			}
			if len(lock.Packs) == 0 {
				return a.print([]string{}, func(p *printer) { printOutdated(p, nil) })
			}
			return nil
		}),
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask; changed hooks wait for hookd allow")
	return cmd
}

// updatePack brings one pack up to date.
func updatePack(a *app, cmd *cobra.Command, cfg config.Config, name, revision string, yes bool) error {
	l, err := lockedPack(cfg, name)
	if err != nil {
		return err
	}
	source := l.Source()
	if revision != "" {
		if source.Kind != pack.FromGit {
			return fail(exitUsage, "type `hookd update "+quote(name)+"`",
				"pack %s is of no git repository: it has no revisions", name)
		}
		source.Revision, source.Track = revision, false
	} else {
		newer, err := pack.Outdated(cmd.Context(), name, l)
		switch {
		case err != nil:
			return fail(exitFailed, "see `hookd outdated`", "%w", err)
		case newer.Moved:
			return reportMoved(name, newer.Revision, newer.Why)
		case !newer.Outdated:
			return reportUpToDate(a, name, newer.Have)
		case newer.Revision != "":
			return a.print(newer, func(p *printer) {
				p.linef("pack %s stays at %s: there is %s, type `hookd update %s`", name, newer.Have, newer.Latest,
					quote(name+"@"+newer.Revision))
			})
		}
	}
	fetched, err := pack.Fetch(cmd.Context(), source)
	if err != nil {
		return fail(exitFailed, "see `hookd outdated`", "%w", err)
	}
	if why := l.Moved(fetched); why != "" {
		return reportMoved(name, fetched.Commit, why)
	}
	if l.Differs(fetched.Content) == "" && l.Commit == fetched.Commit && l.Revision == fetched.Source.Revision {
		return reportUpToDate(a, name, l.Source().String())
	}
	return placePack(a, cmd, cfg, name, fetched, yes)
}

// reportMoved says that a tag stands for another commit now, and how to take that.
func reportMoved(name, commit, why string) error {
	take := "hookd update " + quote(name+"@"+commit)
	return fail(exitFailed, "ask the authors why; to take it, type `"+take+"`", "pack %s is left as it is: %s", name, why)
}

func reportUpToDate(a *app, name, have string) error {
	return a.print(map[string]string{"pack": name, "have": have}, func(p *printer) {
		p.linef("pack %s has nothing newer: %s", name, have)
	})
}

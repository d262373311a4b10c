package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/project"
	"github.com/hookd/hookd/internal/discovery/catalog"
)

func trustCommand(a *app) *cobra.Command {
	var yes, list, revoke bool
	cmd := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Let the hooks of a repository run for events in it",
		Long: `trust shows the hooks in .hookd/hooks of the repository that DIR is in (default:
where you are) and, when you agree, lets them run as they are shown: for events
in that repository and its working trees alone, as project:NAME, after your own
hooks. They can deny, ask and add context, and loosen nothing.

A hook that is new or has changed since waits until you trust it again, by this
command or by ` + "`hookd allow project:NAME`" + `.`,
		Example: "  hookd trust\n  hookd trust ~/src/app\n  hookd trust --list\n  hookd trust --revoke ~/src/app",
		Args:    atMostOne,
		RunE: withConfig(func(cmd *cobra.Command, args []string, cfg config.Config) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			switch {
			case list && (revoke || len(args) > 0):
				return fail(exitUsage, "see `hookd trust --help`", "--list stands alone")
			case list:
				return listTrusted(a, cfg)
			case revoke:
				return revokeTrust(a, cmd, cfg, dir, yes)
			}
			return trustProject(a, cmd, cfg, dir, yes)
		}),
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&list, "list", false, "list the repositories that are trusted")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "end the trust in the repository: its hooks run no more")
	return cmd
}

// trustedProject is the answer of trust.
type trustedProject struct {
	Root    string                `json:"root"`
	Trusted bool                  `json:"trusted"` // now
	Hooks   []catalog.Description `json:"hooks"`   // that were looked at
	Allowed []string              `json:"allowed"` // that were trusted before
}

func trustProject(a *app, cmd *cobra.Command, cfg config.Config, dir string, yes bool) error {
	p, err := catalog.LookAtProject(cfg, dir)
	if err != nil {
		return fail(exitFailed, "name a folder of a git repository: `hookd trust DIR`", "%w", err)
	}
	answer := trustedProject{Root: p.Repository.Root, Hooks: []catalog.Description{}, Allowed: []string{}}
	for _, w := range p.Waiting {
		answer.Hooks = append(answer.Hooks, catalog.Describe(cfg, p.Hooks[w.Hook]))
	}
	for _, h := range p.Allowed {
		answer.Allowed = append(answer.Allowed, h.Name)
	}
	out := a.printer(a.out)
	if a.format != "json" {
		printProject(out, p, answer)
	}
	if len(p.Waiting) == 0 {
		answer.Trusted = p.Trusted
		return a.print(answer, func(out *printer) { printNothingToTrust(out, p) })
	}
	again := "hookd trust " + quote(p.Repository.Root) + " --yes"
	question := fmt.Sprintf("Let these hooks run for events in %s, as they are shown?", p.Repository.Root)
	if err := a.confirm(yes, question, again); err != nil {
		return err
	}
	if err := p.Trust(cfg); err != nil {
		return fail(exitFailed, permissionsHint+cfg.TrustedDir(), "%w", err)
	}
	answer.Trusted = true
	running, err := a.reloadDaemon(cmd)
	if err != nil {
		return err
	}
	return a.print(answer, func(p *printer) {
		p.linef("the hooks of %s are trusted, as they are now", answer.Root)
		p.taken(running)
	})
}

// printProject shows a repository's hooks that are not trusted as they are.
func printProject(p *printer, is catalog.Project, answer trustedProject) {
	p.pairs(kv("repository", is.Repository.Root), kv("trusted", strings.Join(answer.Allowed, ", ")))
	for i, w := range is.Waiting {
		p.line()
		printDescription(p, answer.Hooks[i])
		p.pairs(kv("changes", strings.Join(w.Changes, "\n")), pair{"refused", cell{w.Refused, red}})
		printFileDiffs(p, w)
	}
	for _, e := range is.Rejected {
		p.line(p.paint(red, "error:"), " ", escape(catalog.Worst(e.Problems).String(), keepNothing))
	}
	p.line()
}

func printNothingToTrust(p *printer, is catalog.Project) {
	switch {
	case len(is.Allowed) > 0:
		p.linef("nothing waits: the hooks of %s are trusted as they are", is.Repository.Root)
	default:
		p.linef("%s has no hooks in %s", is.Repository.Root, project.HooksDir)
	}
}

func revokeTrust(a *app, cmd *cobra.Command, cfg config.Config, dir string, yes bool) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	repository, ok := project.Find(dir)
	if !ok { // it may be gone: then its path is all there is
		repository = project.Repository{Root: dir, ID: filepath.Join(dir, ".git")}
	}
	again := "hookd trust --revoke " + quote(repository.Root) + " --yes"
	if err := a.confirm(yes, "End the trust in the hooks of "+repository.Root+"?", again); err != nil {
		return err
	}
	if err := catalog.Revoke(cfg, repository.ID); err != nil {
		return fail(exitFailed, permissionsHint+cfg.TrustedDir(), "%w", err)
	}
	if _, err := a.reloadDaemon(cmd); err != nil {
		return err
	}
	return a.print(map[string]string{"revoked": repository.Root}, func(p *printer) {
		p.linef("the hooks of %s run no more", repository.Root)
	})
}

func listTrusted(a *app, cfg config.Config) error {
	list := catalog.ListTrusted(cfg)
	return a.print(list, func(p *printer) {
		if len(list) == 0 {
			p.line("no repository is trusted: look at one with `hookd trust DIR`")
			return
		}
		rows := [][]cell{}
		for _, t := range list {
			hooks := map[string]bool{}
			for _, v := range t.Versions {
				hooks[v.Hook] = true
			}
			root := strings.TrimSuffix(t.Repository, "/.git")
			rows = append(rows, []cell{text(root), textf("%d", len(hooks)), text(ago(t.At))})
		}
		p.table([]column{pathColumn("REPOSITORY"), {title: "HOOKS"}, {title: "TRUSTED"}}, rows)
	})
}

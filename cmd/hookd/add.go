package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/docs/gallery"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/hooks/pack"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
)

func addCommand(a *app) *cobra.Command {
	var folder, name string
	var track, frozen, yes bool
	cmd := &cobra.Command{
		Use:   "add [SOURCE[@REV]]",
		Short: "Add hooks that are shared: of the gallery, a folder or a git repository",
		Long: `add gets a pack of hooks, shows each hook and puts the pack into packs/NAME in
hookd's home, where its hooks are called NAME/HOOK. SOURCE is gallery/NAME, a
folder, or the URL of a git repository; REV is a tag or a commit, or a branch
with --track. hooks.lock notes the commit and the sha256 of each file. Without SOURCE it lists
the gallery: guards and other hooks that come with hookd.

The gallery has ` + galleryText() + `.

Nothing of a pack is executed before ` + "`hookd allow NAME/HOOK`" + `, whatever
reload.mode says. Hooks of the gallery come with hookd and do not wait.

--frozen makes the packs exactly what hooks.lock says, without the network where
they are in place or in the cache, and is an error where that cannot be done.`,
		Example: `  hookd add
  hookd add gallery/command-guard
  hookd add https://example.org/team/hooks.git@v1.2.0
  hookd add ./hooks --name team
  hookd add --frozen`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case frozen && (len(args) > 0 || folder != "" || name != "" || track):
				return errors.New("--frozen takes what hooks.lock says: no SOURCE and no other flag")
			case !frozen && len(args) > 1:
				return fail(exitUsage, "see `hookd hook add --help`",
					"add wants one SOURCE: gallery/NAME, a folder or a URL; %d are given", len(args))
			}
			return nil
		},
		ValidArgsFunction: galleryNames,
		RunE: withConfig(func(cmd *cobra.Command, args []string, cfg config.Config) error {
			if frozen {
				return addFrozen(a, cmd, cfg)
			}
			if len(args) == 0 || strings.Trim(args[0], "/") == pack.Gallery {
				return listGallery(a)
			}
			user, _ := os.UserHomeDir() // without one ~ means nothing
			source, err := pack.Parse(args[0], user)
			if err != nil {
				return fail(exitUsage, catalog.Meant(args[0], nil)+"see `hookd add --help`", "%w", err)
			}
			source.Path, source.Track = strings.Trim(filepath.ToSlash(filepath.Clean(folder)), "/"), track
			if source.Path == "." {
				source.Path = ""
			}
			return addPack(a, cmd, cfg, source, name, yes)
		}),
	}
	cmd.Flags().StringVar(&folder, "path", "", "folder in SOURCE that is the pack")
	cmd.Flags().StringVar(&name, "name", "", "name of the pack (default: the last part of SOURCE)")
	cmd.Flags().BoolVar(&track, "track", false, "REV is a branch, and updates follow it")
	cmd.Flags().BoolVar(&frozen, "frozen", false, "make the packs exactly what hooks.lock says")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// galleryText lists the gallery, in lines for help.
func galleryText() string {
	return fillLines(strings.Join(gallery.Names(), ", "), helpWidth)
}

// helpWidth is how wide a list in the help of a command is.
const helpWidth = 76

func galleryNames(*cobra.Command, []string, string) (list []string, _ cobra.ShellCompDirective) {
	for _, name := range gallery.Names() {
		list = append(list, pack.Gallery+"/"+name)
	}
	return list, cobra.ShellCompDirectiveDefault
}

// added is the answer of add and update.
type added struct {
	Pack    string                `json:"pack"`
	Source  string                `json:"source"`
	Commit  string                `json:"commit,omitempty"`
	Folder  string                `json:"folder"`
	Hooks   []catalog.Description `json:"hooks"`
	Notes   []string              `json:"notes,omitempty"`
	Waiting []string              `json:"waiting"` // hooks that wait to be allowed
}

// galleryHook is a hook of the gallery in its list.
type galleryHook struct {
	Name string `json:"name"` // as add takes it
	Does string `json:"does"`
}

// listGallery prints the hooks of the gallery with their descriptions.
func listGallery(a *app) error {
	var all []galleryHook
	for _, name := range gallery.Names() {
		files, err := gallery.Files(name)
		if err != nil {
			return err
		}
		text, err := fs.ReadFile(files, hookdir.FileName)
		if err != nil {
			return err
		}
		var of struct {
			Description string `yaml:"description"`
		}
		if err := yaml.Unmarshal(text, &of); err != nil {
			return err
		}
		all = append(all, galleryHook{pack.Gallery + "/" + name, of.Description})
	}
	return a.print(map[string][]galleryHook{"gallery": all}, func(p *printer) {
		var rows [][]cell
		for _, h := range all {
			rows = append(rows, []cell{text(h.Name), text(h.Does)})
		}
		p.table([]column{{title: "HOOK"}, textColumn("WHAT IT DOES")}, rows)
		p.line()
		p.line("add one: hookd hook add gallery/command-guard")
	})
}

// addPack gets a pack, shows it, asks, and puts it in place.
func addPack(a *app, cmd *cobra.Command, cfg config.Config, s pack.Source, name string, yes bool) error {
	switch {
	case name == "":
		name = s.Name()
	case s.Kind == pack.FromGallery:
		return fail(exitUsage, "leave --name out", "hooks of the gallery are called gallery/NAME")
	case strings.EqualFold(name, pack.Gallery):
		return fail(exitUsage, "choose another with --name", "gallery is the pack of the hooks that come with hookd")
	}
	if err := pack.CheckName(name); err != nil {
		return fail(exitUsage, "choose another with --name", "%w", err)
	}
	name = pack.LockedName(s, name)
	home := pack.NewHome(cfg.Home)
	lock, err := home.Lock()
	if err != nil {
		return fail(exitRejected, "restore hooks.lock, or move it away", "%w", err)
	}
	for other := range lock.Packs { // some file systems have one folder for both
		if other != name && strings.EqualFold(other, name) {
			return fail(exitUsage, "choose another with --name", "there is a pack %s already: the name differs in case alone",
				other)
		}
	}
	old, there := lock.Packs[name]
	if there && (old.Kind != s.Kind || old.URL != s.Location) {
		return fail(exitFailed, "give this one another name with --name, or type `hookd hook rm "+quote(name)+"`",
			"there is a pack %s already, from %s", name, old.Source())
	}
	fetched, err := pack.Fetch(cmd.Context(), s)
	if err != nil {
		return fail(exitFailed, "correct the source; `hookd add --help` has examples", "%w", err)
	}
	if why := old.Moved(fetched); there && why != "" {
		return reportMoved(name, fetched.Commit, why)
	}
	return placePack(a, cmd, cfg, name, fetched, yes)
}

// again is the command line that was typed, to be typed without a question.
func (a *app) again() string {
	words := []string{"hookd"}
	for _, word := range a.line {
		if plain := "x" + word; quote(plain) != plain { // a flag need not be quoted
			word = quote(word)
		}
		words = append(words, word)
	}
	return strings.Join(append(words, "--yes"), " ")
}

// placePack shows the fetched pack, asks, and puts it in place of the installed one.
func placePack(a *app, cmd *cobra.Command, cfg config.Config, name string, f pack.Fetched, yes bool) error {
	home := pack.NewHome(cfg.Home)
	staged, err := home.Stage(name, f)
	if err != nil {
		return fail(exitFailed, permissionsHint+home.PacksDir(), "%w", err)
	}
	defer staged.Discard()
	hooks := catalog.ReadPack(cfg, staged.Dir, name, f.Content)
	if err := catalog.CheckHooks(hooks); err != nil {
		return fail(exitFailed, "tell the authors of "+f.Source.String(), "pack %s cannot be added: %w", name, err)
	}
	answer := added{
		Pack: name, Source: f.Source.String(), Commit: f.Commit, Folder: home.Dir(name),
		Notes: f.Notes, Waiting: []string{},
	}
	for _, h := range hooks {
		answer.Hooks = append(answer.Hooks, catalog.Describe(cfg, h.Hook))
	}
	if !f.Source.Secure() {
		answer.Notes = append(answer.Notes, "the URL is not encrypted: compare the commit with what the authors say")
	}
	lock, err := home.Lock()
	if err != nil {
		return fail(exitRejected, "restore hooks.lock, or move it away", "%w", err)
	}
	old, there := lock.Packs[name]
	if a.format != "json" {
		printFetched(a.printer(a.out), answer)
		if there {
			printPackDiff(a.printer(a.out), home, name, old, f.Content)
		}
	}
	question := fmt.Sprintf("Add pack %s, hooks as shown?", name)
	if there {
		question = fmt.Sprintf("Put this in place of pack %s as it is?", name)
	}
	if err := a.confirm(yes, question, a.again()); err != nil {
		return err
	}
	if err := staged.Put(); err != nil {
		return fail(exitFailed, permissionsHint+home.PacksDir(), "%w", err)
	}
	if err := pack.NewCache(packCache()).Put(f); err != nil {
		fmt.Fprintln(a.errOut, "warning:", escape(err.Error(), keepNothing))
	}
	return finishAdd(a, cmd, cfg, answer, f.Content, yes)
}

// finishAdd has a running daemon reload, and prints which hooks wait. On a terminal it
// asks for each hook that was allowed before and has changed. What is in place of a hook of the
// gallery that is none waits, too.
func finishAdd(a *app, cmd *cobra.Command, cfg config.Config, answer added, c pack.Content, yes bool) error {
	sums := map[string]string{}
	for _, f := range c {
		sums[f.Path] = f.Sum()
	}
	for _, w := range catalog.Waiting(cfg) {
		if !slices.ContainsFunc(answer.Hooks, func(d catalog.Description) bool { return d.Name == w.Name }) || w.Gone {
			continue
		}
		inGallery := strings.HasPrefix(answer.Pack, pack.Gallery+"/") && w.Is(answer.Folder, sums)
		if !inGallery && (w.New || yes || !isTerminal(a.in) || !asksAgain(a, w)) {
			answer.Waiting = append(answer.Waiting, w.Name)
			continue
		}
		if inGallery && cfg.ReloadMode != "ask" {
			continue // it does not wait
		}
		if err := catalog.Allow(cfg, w); err != nil {
			hint := "see the folder's permissions, then type `hookd allow " + quote(w.Name) + "`"
			return fail(exitFailed, hint, "%w", err)
		}
	}
	running, err := a.reloadDaemon(cmd)
	if err != nil {
		return err
	}
	return a.print(answer, func(p *printer) {
		p.linef("pack %s is in %s", answer.Pack, answer.Folder)
		if len(answer.Waiting) > 0 {
			p.linef("waiting to be allowed, nothing of them runs before: %s", strings.Join(answer.Waiting, ", "))
			p.linef("look at each and allow it with `hookd allow %s`", quote(answer.Waiting[0]))
		}
		p.taken(running)
	})
}

// asksAgain shows a hook that has changed and reports whether a person allows it.
func asksAgain(a *app, w catalog.Pending) bool {
	p := a.printer(a.errOut)
	printPending(p, w)
	return a.confirm(false, "Allow "+w.Name+" to run as shown?", "hookd allow "+quote(w.Name)) == nil
}

// packCache is where fetched packs are kept for other homes; "" = nowhere.
func packCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "hookd", "packs")
}

func addFrozen(a *app, cmd *cobra.Command, cfg config.Config) error {
	list, err := pack.NewHome(cfg.Home).Frozen(cmd.Context(), pack.NewCache(packCache()))
	if err != nil {
		return fail(exitFailed, "compare with `hookd outdated`, or add the packs again without --frozen", "%w", err)
	}
	if _, err := a.reloadDaemon(cmd); err != nil {
		return err
	}
	return a.print(list, func(p *printer) {
		rows := [][]cell{}
		for _, r := range list {
			rows = append(rows, []cell{text(r.Name), text(r.From)})
		}
		p.table([]column{nameColumn("PACK"), pathColumn("FROM")}, rows)
	})
}

// printFetched shows a pack before it is put in place.
func printFetched(p *printer, f added) {
	p.pairs(kv("pack", f.Pack), kv("from", f.Source), kv("commit", f.Commit))
	for _, d := range f.Hooks {
		p.line()
		printDescription(p, d)
	}
	for _, note := range f.Notes {
		p.line(p.paint(yellow, "note:"), " ", escape(note, keepNothing))
	}
	p.line()
}

func printDescription(p *printer, d catalog.Description) {
	denies := "no"
	if d.CanDeny {
		denies = "yes"
	}
	needs := make([]string, len(d.Needs))
	for i, n := range d.Needs {
		if needs[i] = n.Program; n.Path == "" {
			needs[i] += " (NOT FOUND)"
		}
	}
	p.pairs(kv("hook", d.Name), kv("about", d.Description), kv("events", strings.Join(d.Events, " ")),
		kv("can deny", denies), kv("runs", d.Runs), kv("by", d.Interpreter), kv("needs", strings.Join(needs, ", ")),
		kv("settings", strings.Join(d.Settings, "\n")), pair{"warning", cell{strings.Join(d.Problems, "\n"), yellow}})
}

// maxCompare is how long a file may be whose change is shown line by line.
const maxCompare = 64 << 10

// printPackDiff shows the changes that the new content makes to an installed pack.
func printPackDiff(p *printer, home pack.Home, name string, old pack.Locked, now pack.Content) {
	before := map[string][]byte{}
	installed, _ := home.Installed(name) // an unreadable one is new
	for _, f := range installed {
		if _, locked := old.Files[f.Path]; locked {
			before[f.Path] = f.Data
		}
	}
	for _, f := range now {
		was, there := before[f.Path]
		delete(before, f.Path)
		switch {
		case there && string(was) == string(f.Data):
		case len(was) > maxCompare || len(f.Data) > maxCompare:
			p.linef("%s differs: it has %d bytes, and had %d", f.Path, len(f.Data), len(was))
		default:
			p.line(p.paint(bold, escape(f.Path, keepNothing)))
			p.diff(string(was), string(f.Data))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(before)) {
		p.linef("%s is gone", path)
	}
}

// removePack takes a pack away, its entry in hooks.lock, and the allowed versions of its hooks.
func removePack(a *app, cmd *cobra.Command, cfg config.Config, name string, yes bool) error {
	again := "hookd hook rm " + quote(name) + " --yes"
	if err := a.confirm(yes, "Remove pack "+name+" and its hooks?", again); err != nil {
		return err
	}
	if err := catalog.RemovePack(cfg, name); err != nil {
		return fail(exitFailed, permissionsHint+pack.NewHome(cfg.Home).PacksDir(), "%w", err)
	}
	reloaded, err := a.reloadDaemon(cmd)
	if err != nil {
		return err
	}
	return a.print(removed{Pack: name, Reloaded: reloaded}, func(p *printer) { p.linef("pack %s is removed", name) })
}

// lockedPack returns the entry of a pack in hooks.lock.
func lockedPack(cfg config.Config, name string) (pack.Locked, error) {
	lock, err := pack.NewHome(cfg.Home).Lock()
	if err != nil {
		return pack.Locked{}, fail(exitRejected, "restore hooks.lock, or move it away", "%w", err)
	}
	l, there := lock.Packs[name]
	if !there {
		hint := "add one with `hookd add gallery/command-guard`"
		if names := slices.Sorted(maps.Keys(lock.Packs)); len(names) > 0 {
			hint = "there are " + strings.Join(names, ", ")
		}
		return l, fail(exitFailed, hint, "there is no pack %q", name)
	}
	return l, nil
}

func packNames(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	lock, _ := pack.NewHome(cfg.Home).Lock()
	return slices.Sorted(maps.Keys(lock.Packs)), cobra.ShellCompDirectiveNoFileComp
}

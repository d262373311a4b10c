package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/transcripts"
	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/internal/record/undo"
	"github.com/hookd/hookd/wire"
)

// undoOptions are the choices of a person.
type undoOptions struct {
	ask      wire.UndoRequest
	since    time.Duration
	yes, all bool
	purge    bool
	find     string
}

func undoCommand(a *app) *cobra.Command {
	var o undoOptions
	cmd := &cobra.Command{
		Use:   "undo [CALL...] [PATH]",
		Short: "Bring back what an agent's call deleted, overwrote or moved",
		Long: `undo lists the calls that destroyed something, and brings back what hookd kept for
them: the files that a call deleted, overwrote or moved, in a repository or not, with
permissions and times. It shows what comes back, and what cannot, and asks first. An undo
is in the list too: undo its CALL to take it back.

What changed since is never overwritten: the whole undo is refused, unless --beside puts
the old version beside the new one, --merge merges them, or --skip leaves it. A file that
changed while a program ran may be your work: --changed takes that back as well. Only a
person undoes: it is refused from an agent's processes, except for --dry-run.

Exit codes: 0 all is back, 3 a part is back, 4 something changed since and nothing was
changed.`,
		Example: "hookd undo\nhookd undo 2WQC0A1B --dry-run\nhookd undo 2WQC0A1B photos/a.jpg\n" +
			"hookd undo --session 5f3c --since 10m",
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := len(args); n > 1 && o.ask.Path == "" && strings.ContainsAny(args[n-1], "./~") {
				args, o.ask.Path = args[:n-1], args[n-1]
			}
			o.ask.Calls = args
			if o.since > 0 {
				o.ask.Since = time.Now().Add(-o.since)
			}
			if o.ask.Path != "" {
				path, err := filepath.Abs(o.ask.Path)
				if err != nil {
					return fail(exitFailed, "name a path that begins with /", "find %s: %w", o.ask.Path, err)
				}
				o.ask.Path = path
			}
			if o.purge {
				return purgeUndo(a, cmd, o, args)
			}
			if o.find != "" {
				return findOld(a, cmd, o.find)
			}
			if len(args) == 0 && (o.all || o.ask.Session == "" && o.since == 0) {
				return listUndo(a, cmd, o)
			}
			return undoCalls(a, cmd, o)
		},
	}
	f := cmd.Flags()
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "preview" { // its name before
			name = "dry-run"
		}
		return pflag.NormalizedName(name)
	})
	f.StringVar(&o.ask.Session, "session", "", "all calls of a session, from hookd log --sessions")
	f.Var((*duration.Back)(&o.since), "since", "all calls since then: 10m, yesterday, 09:00")
	f.StringVar(&o.ask.Path, "path", "", "only this path, and what is below it")
	f.BoolVar(&o.ask.Preview, "dry-run", false, "show what would happen, and change nothing")
	f.BoolVar(&o.ask.Beside, "beside", false, "where a file changed since: put its old version beside it")
	f.BoolVar(&o.ask.Merge, "merge", false, "where a text changed since: merge its old version into it")
	f.BoolVar(&o.ask.Skip, "skip", false, "where a file changed since: leave it")
	f.BoolVar(&o.ask.Changed, "changed", false, "also undo changes that another may have made")
	f.StringVar(&o.find, "find", "", "list where old bytes of this file still are")
	f.BoolVar(&o.purge, "purge", false, "delete what is kept for the calls, without CALL for all")
	f.BoolVar(&o.all, "list", false, "only list the calls, also of --session and --since")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	return withLimit(a, cmd)
}

// purgeUndo deletes the kept files.
func purgeUndo(a *app, cmd *cobra.Command, o undoOptions, calls []string) error {
	question := "Delete what is kept for " + card.Plural(len(calls), "call") + "? It cannot come back then."
	if len(calls) == 0 {
		calls, question = []string{"all"}, "Delete all that is kept? Nothing can be taken back then."
	}
	if err := a.confirm(o.yes, question, a.again()); err != nil {
		return err
	}
	var sum wire.UndoPurged
	for _, id := range calls {
		did, err := a.dial(cmd).PurgeUndo(cmd.Context(), id)
		if err != nil {
			return err
		}
		sum.Calls += did.Calls
	}
	return a.print(sum, func(p *printer) {
		const rest = "purged: %s; snapshots and backups of the disk may still have the bytes"
		p.linef(rest, card.Plural(sum.Calls, "call"))
	})
}

// findOld lists where old bytes of a file are. It needs no daemon.
func findOld(a *app, cmd *cobra.Command, path string) error {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return fail(exitFailed, "name a path that begins with /", "find %s: %w", path, err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return fail(exitFailed, "set HOME", "find your home folder: %w", err)
	}
	own := transcripts.Options{Home: home, Env: os.Getenv}
	var texts []string // the newest first
	for _, file := range transcripts.Find(own).Files {
		texts = append(texts, file.Path)
	}
	folders := undo.Folders{Home: home, Env: os.Getenv}
	for _, c := range own.Copies() {
		folders.Copies = append(folders.Copies, undo.Copies(c))
	}
	found := undo.Find(full, cfg.VaultDir(), folders, texts)
	return a.print(map[string]any{"path": full, "found": found}, func(p *printer) {
		if len(found) == 0 {
			p.linef("nothing found of %s: no vault, git, open file, copy, transcript, trash or snapshot has it", tilde(full))
			return
		}
		for _, f := range found {
			printUndoFound(p, f)
		}
	})
}

func printUndoFound(p *printer, f wire.UndoFound) {
	at, size := "time unknown", ""
	if !f.Time.IsZero() {
		at = p.when(f.Time)
	}
	if f.Whole {
		size = ", " + sizeText(f.Size)
	} else {
		size = ", maybe in part"
	}
	p.linef("%s, %s%s", f.Where, at, size)
	p.linef("  %s", f.Type)
}

// listUndo prints the calls that can be taken back.
func listUndo(a *app, cmd *cobra.Command, o undoOptions) error {
	return show(a, cmd, func(ctx context.Context, c *client.Client) (wire.UndoList, error) {
		list, err := c.Undoable(ctx, wire.UndoQuery{Session: o.ask.Session, Path: o.ask.Path, Since: o.ask.Since})
		list.Calls = upTo(list.Calls, a.limit)
		return list, err
	}, printUndoable)
}

func printUndoable(p *printer, list wire.UndoList) {
	if len(list.Calls) == 0 {
		p.sentence(plain, "nothing to take back: no call that hookd was asked about has destroyed a file")
		return
	}
	id := idsOf(p, list.Calls, func(c wire.UndoCall) string { return c.ID })
	var rows [][]cell
	for _, c := range list.Calls {
		rows = append(rows, []cell{
			text(id(c.ID)), text(p.when(c.Time)), text(c.Agent), text(c.Session), text(cmp.Or(c.Subject, c.Tool)),
			textf("%d", c.Files), text(lostCount(c)), text(undoneWords(c)),
		})
	}
	p.table([]column{
		{title: "CALL"}, {title: "WHEN"}, asideColumn("AGENT"), spareColumn("SESSION"), textColumn("WHAT"),
		{title: "BACK"}, {title: "NOT"}, {title: "STATE"},
	}, rows)
	p.linef("%s are kept. See what comes back with `hookd undo CALL`", sizeText(list.Bytes))
}

// lostCount is how much of a call does not come back.
func lostCount(c wire.UndoCall) string {
	if len(c.Lost) == 0 {
		return "-"
	}
	return fmt.Sprint(wire.CountLost(c.Lost))
}

func undoneWords(c wire.UndoCall) string {
	switch {
	case c.Undone != nil && c.Undone.Word == wire.UndoAll:
		return "taken back"
	case c.Undone != nil:
		return "in part"
	case c.Outcome == undo.Interrupted:
		return "interrupted"
	case !c.Settled:
		return "runs"
	}
	return ""
}

// undoCalls shows the changes of an undo, asks, and makes them.
func undoCalls(a *app, cmd *cobra.Command, o undoOptions) error {
	ask := o.ask
	ask.Preview = true
	ctx, cancel := a.answer(cmd)
	seen, err := a.dial(cmd).Undo(ctx, ask)
	cancel()
	if err != nil {
		return err
	}
	show := a.format != "json" || o.ask.Preview
	if show {
		if err := a.print(seen, func(p *printer) { printUndoPlan(p, seen) }); err != nil {
			return err
		}
	}
	switch {
	case o.ask.Preview:
		return nil
	case seen.Word == wire.UndoRefused:
		return fail(exitConflict, "choose --beside, --merge, --skip or --changed: see `hookd undo --help`",
			"%s changed since, or by another; nothing was changed", card.Plural(seen.Count[wire.UndoConflict], "path"))
	case seen.Word == wire.UndoNothing && len(seen.Lost) > 0:
		return said(exitPart)
	case seen.Word == wire.UndoNothing:
		return nil
	}
	question := fmt.Sprintf("Bring back %s?", card.Plural(changed(seen), "file"))
	if err := a.confirm(o.yes, question, a.again()); err != nil {
		return err
	}
	done, err := a.dial(cmd).Undo(cmd.Context(), o.ask)
	if err != nil {
		return err
	}
	if err := a.print(done, func(p *printer) { printUndone(p, done) }); err != nil {
		return err
	}
	switch done.Word {
	case wire.UndoPart:
		return said(exitPart)
	case wire.UndoRefused:
		return said(exitConflict)
	}
	return nil
}

// changed is how many paths an undo changes.
func changed(a wire.UndoAnswer) int {
	return a.Count[wire.UndoBack] + a.Count[wire.UndoRemoved] + a.Count[wire.UndoBeside] + a.Count[wire.UndoMerged]
}

// undoWords name the changes of an undo to a path, in the order in which they are shown.
var undoWords = []struct{ does, words, are string }{
	{wire.UndoBack, "comes back", "back"},
	{wire.UndoRemoved, "goes, the call made it", "gone again"},
	{wire.UndoMerged, "is merged", "merged"},
	{wire.UndoBeside, "comes beside the new", "beside"},
	{wire.UndoSame, "is as it was", "as before"},
	{wire.UndoConflict, "CHANGED BY ANOTHER?", "changed by another?"},
	{wire.UndoLeft, "does NOT come back", "not back"},
}

// printUndoPlan shows the changes that an undo would make.
func printUndoPlan(p *printer, a wire.UndoAnswer) {
	for _, c := range a.Calls {
		p.linef("%s, %s, %s:  %s", cmp.Or(c.Agent, c.Tool), p.when(c.Time), tilde(c.Cwd), cmp.Or(c.Subject, c.Tool))
	}
	for _, w := range undoWords {
		printUndoGroup(p, a, w.does, w.words)
	}
	for _, c := range a.Calls {
		if !c.Settled && a.Word == wire.UndoNothing && c.Files > 0 {
			p.linef("  %-22s %s, %s", "kept for it", card.Plural(c.Files, "file"), sizeText(c.Bytes))
		}
		for _, d := range c.Dumps {
			p.linef("  %-22s %s, %s: %s", "a hook has kept", d.Name, sizeText(d.Size), cmp.Or(d.Restore, d.Path))
		}
	}
	for _, l := range a.Lost {
		label, text := l.Says()
		line := escape(fmt.Sprintf("  %-22s %s", label, text), keepNothing)
		if p.width > 0 && !p.wide {
			line = hangLines(line, 25, p.width)
		}
		p.line(line)
	}
	runs := slices.ContainsFunc(a.Calls, func(c wire.UndoCall) bool { return !c.Settled })
	switch {
	case a.Word == wire.UndoRefused:
	case a.Word == wire.UndoNothing && runs:
		p.line("Its result has not come. So far all is as it was: there is nothing to do.")
	case a.Word == wire.UndoNothing && len(a.Lost) > 0:
		p.line("Nothing comes back.")
	case a.Word == wire.UndoNothing:
		p.line("All is as it was before: there is nothing to do.")
	default:
		p.line("Only this; what other calls did stays. It can itself be undone.")
	}
}

// mostPaths is how many paths of a kind are named.
const mostPaths = 8

func printUndoGroup(p *printer, a wire.UndoAnswer, does, words string) {
	n := a.Count[does]
	if n == 0 {
		return
	}
	size := ""
	if does == wire.UndoBack && a.Bytes > 0 {
		size = ", " + sizeText(a.Bytes)
	}
	p.linef("  %-22s %s%s", words, card.Plural(n, "file"), size)
	named := 0
	for _, i := range a.Items {
		if i.Does != does {
			continue
		}
		if named++; named > mostPaths {
			p.linef("    and %d more", n-mostPaths)
			break
		}
		line := "    " + tilde(i.Path)
		if i.To != "" {
			line += " → " + filepath.Base(i.To)
		}
		if i.Why != "" {
			line += ": " + i.Why
		}
		p.line(p.fit(escape(line, keepNothing)))
	}
}

// printUndone tells the changes that an undo made.
func printUndone(p *printer, a wire.UndoAnswer) {
	var parts []string
	for _, w := range undoWords {
		if n := a.Count[w.does]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, w.are))
		}
	}
	if n := wire.CountLost(a.Lost); n > 0 {
		parts = append(parts, fmt.Sprintf("%d not back", n))
	}
	line := strings.Join(parts, ", ")
	switch a.Word {
	case wire.UndoAll:
		line = "All is back: " + line + "."
	case wire.UndoPart:
		what := "A PART"
		if a.ID == "" {
			what = "NOTHING"
		}
		line = what + " is back: " + line + "."
	case wire.UndoNothing:
		line = "All is as it was before."
	}
	p.line(line)
	left := slices.DeleteFunc(slices.Clone(a.Items), func(i wire.UndoItem) bool { return i.Does != wire.UndoLeft })
	for _, i := range left[:min(len(left), mostPaths)] {
		p.linef("  not back: %s: %s", tilde(i.Path), i.Why)
	}
	if a.ID != "" {
		p.linef("Take this back: hookd undo %s", ending(a.ID))
	}
}

// undoLine tells how much of a decision's call can be taken back; "" = nothing was destroyed.
func undoLine(d client.Decision) string {
	k := d.Kept
	if k == nil {
		return ""
	}
	var lines []string
	switch {
	case k.Gone:
		return "nothing is kept any more: it changed nothing, or it is too old or purged"
	case k.Word != "none":
		kept := fmt.Sprintf("%s, %s: hookd undo ", card.Plural(k.Files, "file"), sizeText(k.Bytes))
		if k.Files == 0 || k.Late { // keeping may have gone on after the verdict
			kept = "see what comes back: hookd undo "
		}
		lines = append(lines, kept+ending(d.EventID))
	}
	for _, l := range k.Lost {
		label, text := l.Says()
		lines = append(lines, label+": "+text)
	}
	return strings.Join(lines, "\n")
}

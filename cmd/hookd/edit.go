package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/pack"
	"github.com/hookd/hookd/internal/people/card"
)

func editCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "edit HOOK",
		Short: "Open a hook's file in your editor, then validate it",
		Long: `edit opens the file that a hook is written in with $VISUAL or $EDITOR, else vi, and
checks it when the editor ends. While the file has errors, the last good hook
stays in force.`,
		Example:           "  hookd edit notify-on-agent-end",
		Args:              one("HOOK"),
		ValidArgsFunction: hookNames(a),
		RunE: withConfig(func(cmd *cobra.Command, args []string, cfg config.Config) error {
			return edit(a, cmd, cfg, args[0])
		}),
	}
	settingFlags(cmd, "hooks_dir")
	return cmd
}

func edit(a *app, cmd *cobra.Command, cfg config.Config, name string) error {
	e, err := entryOf(cfg, name)
	if err != nil {
		return err
	}
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")
	// The variable is a shell's text, such as "code --wait".
	run := exec.CommandContext(cmd.Context(), "/bin/sh", "-c", editor+` "$1"`, "sh", e.File)
	run.Stdin, run.Stdout, run.Stderr = a.in, a.out, a.errOut
	if err := run.Run(); err != nil {
		return fail(exitFailed, "set EDITOR to a program that is installed, or edit "+e.File, "run %s: %w", editor, err)
	}
	var only []string
	if ownFolder(cfg, e) {
		only = []string{filepath.Dir(e.File)}
	}
	return validate(a, cfg, only, false)
}

func rmCommand(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:     "rm HOOK|PACK",
		Aliases: []string{"remove"},
		Short:   "Delete a hook's folder, or a pack that `hookd hook add` added",
		Long: `rm deletes the folder of one hook under the hooks directory, or a whole pack with its
entry in hooks.lock and what was allowed of its hooks. It asks on a terminal and refuses without one
unless --yes. A hook of another file, such as an agent.yaml, is removed in that file. To keep
the files, use ` + "`hookd disable`" + `.`,
		Example:           "  hookd hook rm my-hook\n  hookd hook rm gallery/command-guard",
		Args:              one("HOOK"),
		ValidArgsFunction: hookNames(a),
		RunE: withConfig(func(cmd *cobra.Command, args []string, cfg config.Config) error {
			return removeHook(a, cmd, cfg, args[0], yes)
		}),
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	settingFlags(cmd, "hooks_dir")
	return cmd
}

// removed is the answer of rm.
type removed struct {
	Hook     string `json:"hook,omitempty"`   // "" = a pack
	Folder   string `json:"folder,omitempty"` // of the hook
	Pack     string `json:"pack,omitempty"`   // "" = a hook
	Rule     string `json:"rule,omitempty"`   // of the hook; "" = the whole hook
	Reloaded bool   `json:"reloaded"`         // a running daemon has taken note
}

func removeHook(a *app, cmd *cobra.Command, cfg config.Config, name string, yes bool) error {
	if lock, err := pack.NewHome(cfg.Home).Lock(); err == nil {
		if _, is := lock.Packs[name]; is {
			return removePack(a, cmd, cfg, name, yes)
		}
	}
	e, err := entryOf(cfg, name)
	if err != nil {
		return err
	}
	folder := filepath.Dir(e.File)
	if !ownFolder(cfg, e) {
		return fail(exitFailed, "remove it in "+e.File+", or type `hookd disable "+name+"`",
			"hook %q has no folder of its own in %s", name, cfg.HooksDir)
	}
	files, err := countFiles(folder)
	if err != nil {
		return fail(exitFailed, "see the folder's permissions, then type `hookd rm "+name+"`", "%w", err)
	}
	if err := a.confirm(yes, fmt.Sprintf("Delete hook %s, the folder %s with %s?", name, folder,
		card.Plural(files, "file")),
		"hookd rm "+name+" --yes"); err != nil {
		return err
	}
	// A link in the hooks directory is removed, not its target.
	if err := os.RemoveAll(folder); err != nil {
		return fail(exitFailed, "see the folder's permissions, then type `hookd rm "+name+"`", "%w", err)
	}
	answer := removed{Hook: name, Folder: folder}
	if answer.Reloaded, err = a.reloadDaemon(cmd); err != nil {
		return err
	}
	return a.print(answer, func(p *printer) { p.linef("hook %s is deleted: %s", name, folder) })
}

// ownFolder reports whether a hook is a folder of the hooks directory.
func ownFolder(cfg config.Config, e hook.Entry) bool {
	return filepath.Dir(filepath.Dir(e.File)) == filepath.Clean(cfg.HooksDir)
}

func countFiles(folder string) (n int, err error) {
	err = filepath.WalkDir(folder, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	return n, err
}

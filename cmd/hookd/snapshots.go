package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/hooks/builtin/shadow"
)

func snapshotsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "snapshots",
		Short: "List, show and undo what the snapshot built-in recorded",
		Long: `snapshots works on the repository around the current folder. The built-in
snapshot records a checkpoint whenever files changed in a turn or a tool call,
in a repository of its own under the home; yours is never touched.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(snapshotsList(a), snapshotsShow(a), snapshotsUndo(a), snapshotsReset(a))
	return cmd
}

func snapshotsList(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "The checkpoints of this repository, oldest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, dir, err := here(cmd)
			if err != nil {
				return err
			}
			repo, err := shadow.Open(cmd.Context(), cfg.DataDir(), dir, nil)
			if err != nil {
				return noSnapshots(err)
			}
			list, err := repo.List(cmd.Context())
			if err != nil {
				return fail(exitFailed, "see the permissions of the home", "%w", err)
			}
			return a.print(list, func(p *printer) {
				if len(list) == 0 {
					p.line("no checkpoints; a hook of `type: builtin` with `command: snapshot` makes them")
					return
				}
				var rows [][]cell
				for _, c := range list {
					rows = append(rows, []cell{text(strconv.Itoa(c.N)), text(c.Time.Local().Format(time.DateTime)),
						text(c.Session), text(c.Note), text(fmt.Sprint(c.Changed))})
				}
				p.table(
					[]column{
						{title: "N"},
						{title: "TIME"},
						asideColumn("SESSION"),
						nameColumn("BY"),
						textColumn("FILES"),
					},
					rows,
				)
			})
		},
	}
}

func snapshotsShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show N", Short: "What changed in a checkpoint, as a diff", Args: one("N"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := checkpoint(args[0])
			if err != nil {
				return err
			}
			cfg, dir, err := here(cmd)
			if err != nil {
				return err
			}
			repo, err := shadow.Open(cmd.Context(), cfg.DataDir(), dir, nil)
			if err != nil {
				return noSnapshots(err)
			}
			diff, err := repo.Show(cmd.Context(), n)
			if err != nil {
				return fail(exitFailed, "see them with `hookd snapshots list`", "checkpoint %d: %w", n, err)
			}
			return a.print(map[string]any{"n": n, "diff": diff}, func(p *printer) { p.block(diff) })
		},
	}
}

func snapshotsUndo(a *app) *cobra.Command {
	var yes, force bool
	cmd := &cobra.Command{
		Use: "undo", Short: "Take the last checkpoint back", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return takeBack(a, cmd, 0, yes, force) },
	}
	undoFlags(cmd, &yes, &force)
	return cmd
}

func snapshotsReset(a *app) *cobra.Command {
	var yes, force bool
	cmd := &cobra.Command{
		Use: "reset N", Short: "Go back to before checkpoint N, taking back all after it too", Args: one("N"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := checkpoint(args[0])
			if err != nil {
				return err
			}
			return takeBack(a, cmd, n, yes, force)
		},
	}
	undoFlags(cmd, &yes, &force)
	return cmd
}

func undoFlags(cmd *cobra.Command, yes, force *bool) {
	cmd.Flags().BoolVarP(yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(force, "force", false, "overwrite files that were changed since")
}

// takeBack goes back to before checkpoint n; 0 is the last one.
func takeBack(a *app, cmd *cobra.Command, n int, yes, force bool) error {
	again := cmd.CommandPath() + " --yes"
	if n > 0 {
		again = cmd.CommandPath() + " " + strconv.Itoa(n) + " --yes"
	}
	cfg, dir, err := here(cmd)
	if err != nil {
		return err
	}
	repo, err := shadow.Open(cmd.Context(), cfg.DataDir(), dir, nil)
	if err != nil {
		return noSnapshots(err)
	}
	if err := a.confirm(yes, "Change the files of this repository back?", again); err != nil {
		return err
	}
	done, err := repo.Reset(cmd.Context(), n, force)
	if err != nil {
		return fail(
			exitFailed,
			"see what it holds with `hookd snapshots list`; --force overwrites files that were changed since",
			"%w",
			err,
		)
	}
	return a.print(done, func(p *printer) {
		p.linef("%d checkpoints taken back, %d files changed", len(done.Checkpoints), len(done.Files))
		for _, f := range done.Files {
			p.linef("  %-8s %s", f.Status, f.Path)
		}
		for _, path := range done.Kept {
			p.linef("  kept     %s", path)
		}
	})
}

// here is the settings and the current folder.
func here(cmd *cobra.Command) (config.Config, string, error) {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return cfg, "", err
	}
	dir, err := os.Getwd()
	if err != nil {
		return cfg, "", fail(exitFailed, "type it in a folder that exists", "find the current folder: %w", err)
	}
	return cfg, dir, nil
}

func noSnapshots(err error) error {
	return fail(exitFailed, "type it inside a git repository", "open the snapshots of this folder: %w", err)
}

func checkpoint(arg string) (int, error) {
	n, err := strconv.Atoi(arg)
	if err != nil || n < 1 {
		return 0, fail(exitUsage, "see the numbers with `hookd snapshots list`", "%q is no checkpoint", arg)
	}
	return n, nil
}

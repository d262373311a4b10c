package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/packaging"
)

func installCommand(a *app) *cobra.Command {
	var dry, hardened bool
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Run hookd as a service of your user",
		Long: `install writes the files that systemd (or launchd, on macOS) needs to run hookd for
your user, with the path of this program and the PATH of this shell, and starts the
service, again if it runs. systemd holds the socket: events that come while hookd
restarts wait there. Typing it again is harmless, and right after an upgrade.

A program in a temporary folder, or one that others could replace, is refused.
LIBREFANG_HOME and HOOKD_ variables that are set become the service's. What you
change belongs in a drop-in: ` + "`systemctl --user edit hookd`" + `.`,
		Example: `  hookd install --dry-run
  hookd install`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return install(a, cmd, dry, hardened) },
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the files and commands, and do nothing")
	cmd.Flags().BoolVar(&hardened, "hardened", false, "systemd: hookd and its hooks cannot gain rights (no sudo in hooks)")
	return cmd
}

func uninstallCommand(a *app) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Take back what `hookd install` did",
		Long: `uninstall stops the service and removes the files that ` + "`hookd install`" + ` wrote. Your
hooks, settings and history stay, and so do your own drop-ins.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return uninstall(a, cmd, dry) },
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the files and commands, and do nothing")
	return cmd
}

// plan is what install or uninstall does, and then what it did.
type plan struct {
	Program  string   `json:"program,omitempty"`
	Files    []change `json:"files"`
	Commands []step   `json:"commands"`
	DryRun   bool     `json:"dry_run"`
	Notes    []string `json:"notes,omitempty"`
}

// change is one file: what happens to it.
type change struct {
	Path  string `json:"path"`
	State string `json:"state"` // new, changed, unchanged, removed
	Text  string `json:"text,omitempty"`

	name string // as the service manager knows it
}

func install(a *app, cmd *cobra.Command, dry, hardened bool) error {
	m, err := thisMachine()
	if err != nil {
		return err
	}
	s, notes, err := m.service(cmd, hardened)
	if err != nil {
		return err
	}
	mgr := m.manager()
	files, err := mgr.files(s)
	if err != nil {
		return fail(exitFailed, "choose paths without such characters, then type `hookd install`", "write the service's files: %w", err)
	}
	p := &plan{Program: s.Program, DryRun: dry, Notes: notes}
	if p.Files, err = changes(mgr, files); err != nil {
		return err
	}
	p.Commands = mgr.start(p.changed)
	if dry {
		return a.print(p, func(out *printer) { out.plan(p) })
	}
	return a.setUp(cmd, m, mgr, p)
}

// setUp writes and starts. Without a service manager that answers, it
// writes what will be right once there is one, and says what to do.
func (a *app) setUp(cmd *cobra.Command, m *machine, mgr manager, p *plan) error {
	ctx := cmd.Context()
	missing := mgr.reachable(ctx)
	if missing == nil && !mgr.active(ctx) {
		if pid := a.runsAlready(cmd); pid > 0 {
			return fail(exitFailed, fmt.Sprintf("stop it with `kill %d`, then type `hookd install`", pid), "hookd already runs with pid %d, and not as a service", pid)
		}
	}
	if errors.Is(missing, errNoManager) {
		p.Files = []change{}
	}
	if err := apply(p.Files, mgr.folders()); err != nil {
		return fail(exitFailed, "see the folder's permissions, then type `hookd install`", "%w", err)
	}
	if missing != nil {
		p.Commands = []step{}
		p.Notes = append(p.Notes, mgr.without()...)
		if err := a.print(p, func(out *printer) { out.done(p) }); err != nil {
			return err
		}
		return fail(exitFailed, "do as it says above, or start it here with `hookd serve`", "hookd is not started as a service: %w", missing)
	}
	if err := m.do(ctx, p.Commands); err != nil {
		return fail(exitFailed, mgr.look(), "%w", err)
	}
	p.Notes = append(p.Notes, mgr.started()...)
	return a.print(p, func(out *printer) { out.done(p) })
}

// runsAlready returns the pid of a daemon that answers, 0 for none.
func (a *app) runsAlready(cmd *cobra.Command) int {
	ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
	defer cancel()
	st, err := a.dial(cmd).Status(ctx)
	if err != nil {
		return 0
	}
	return st.PID
}

func uninstall(a *app, cmd *cobra.Command, dry bool) error {
	m, err := thisMachine()
	if err != nil {
		return err
	}
	mgr := m.manager()
	p := &plan{DryRun: dry, Notes: []string{"hooks, settings and history stay where they are"}}
	if p.Files, err = changes(mgr, nil); err != nil {
		return err
	}
	if len(p.Files) == 0 {
		p.Notes = []string{"hookd is not installed as a service"}
		return a.print(p, func(out *printer) { out.lines(p.Notes) })
	}
	before, after := mgr.stop()
	p.Commands = append(before, after...)
	if dry {
		return a.print(p, func(out *printer) { out.plan(p) })
	}
	if err := mgr.reachable(cmd.Context()); err != nil {
		before, after, p.Commands = nil, nil, []step{}
		p.Notes = append(p.Notes, "the service manager was not told: "+err.Error())
	}
	if err := m.do(cmd.Context(), before); err != nil {
		return fail(exitFailed, mgr.look(), "%w", err)
	}
	if err := apply(p.Files, nil); err != nil {
		return fail(exitFailed, "see the folder's permissions, then type `hookd uninstall`", "%w", err)
	}
	mgr.tidy()
	if err := m.do(cmd.Context(), after); err != nil {
		return fail(exitFailed, mgr.look(), "%w", err)
	}
	return a.print(p, func(out *printer) { out.done(p) })
}

// changes compares the files that are to be there with those that are. A file
// that install did not write stays: it stands in the way of one of ours.
func changes(mgr manager, files []packaging.File) (list []change, err error) {
	want := map[string]string{}
	for _, f := range files {
		want[f.Name] = f.Text
	}
	for _, name := range mgr.names() {
		c := change{Path: filepath.Join(mgr.folder(), name), name: name}
		text, wanted := want[name]
		have, err := os.ReadFile(c.Path)
		there := err == nil
		ours := there && bytes.Contains(have, []byte(packaging.Mark))
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, fail(exitFailed, "see its permissions with `ls -l "+c.Path+"`, then type `hookd install`", "%w", err)
		case wanted && there && !ours:
			return nil, fail(exitFailed, "move it away, then type `hookd install`", "%s was not written by `hookd install`", c.Path)
		case wanted && !there:
			c.State, c.Text = "new", text
		case wanted && string(have) != text:
			c.State, c.Text = "changed", text
		case wanted:
			c.State = "unchanged"
		case ours:
			c.State = "removed"
		default:
			continue
		}
		list = append(list, c)
	}
	return list, nil
}

func (p *plan) changed(name string) bool {
	for _, c := range p.Files {
		if c.name == name && c.State != "unchanged" {
			return true
		}
	}
	return false
}

// apply makes the files so, and the folders.
func apply(files []change, folders []string) error {
	for _, dir := range folders {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	for _, c := range files {
		var err error
		switch c.State {
		case "new", "changed":
			err = replaceFile(c.Path, c.Text)
		case "removed":
			if err = os.Remove(c.Path); err == nil && strings.Contains(c.name, "/") {
				os.Remove(filepath.Dir(c.Path)) // unless a drop-in of the user's is there
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// replaceFile writes a file as a whole or not at all.
func replaceFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// plan prints what would be done.
func (p *printer) plan(plan *plan) {
	for _, c := range plan.Files {
		p.linef("# %s (%s)", c.Path, c.State)
		if c.Text != "" {
			p.line(escape(c.Text, keepNewlines))
		}
	}
	for _, s := range plan.Commands {
		p.linef("$ %s", s)
	}
	p.lines(plan.Notes)
}

// done prints what was done.
func (p *printer) done(plan *plan) {
	for _, c := range plan.Files {
		p.linef("%-9s  %s", c.State, c.Path)
	}
	for _, s := range plan.Commands {
		p.linef("%-9s  %s", "ran", s)
	}
	p.lines(plan.Notes)
}

func (p *printer) lines(list []string) {
	for _, line := range list {
		p.linef("%s", line)
	}
}

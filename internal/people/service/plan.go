// Package service decides the steps of `hookd install` and `hookd uninstall` on this
// machine, and does them: which service manager there is (systemd, launchd), which
// files it reads, which program, PATH and settings they name, and which commands
// start and stop the service. Look examines the service.
//
// It promises: a plan is made without changing anything; a file that install did
// not write is never replaced or removed; a file is written as a whole, for the
// user alone; nothing is written where no service manager answers, nor in a
// folder that others can write to. An error names the command to type next.
//
// It prints nothing, and the texts of units are the texts of package packaging.
package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
	"github.com/hookd/hookd/internal/base/system"
	"github.com/hookd/hookd/packaging"
)

// Error has the failure and the command to type next.
type Error struct {
	Err error
	Do  string
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

func fail(do, format string, args ...any) error { return &Error{fmt.Errorf(format, args...), do} }

// ErrUnreachable is the error when no service manager answers: nothing was written, and
// the plan's notes name the steps to do instead.
var ErrUnreachable = errors.New("hookd is not installed as a service")

// Plan has the steps that install or uninstall will do, and then the steps that it has done.
type Plan struct {
	Program  string   `json:"program,omitempty"`
	Files    []Change `json:"files"`
	Commands []Step   `json:"commands"`
	DryRun   bool     `json:"dry_run"` // set by the caller
	Notes    []string `json:"notes,omitempty"`

	machine       *Machine
	manager       manager
	before, after []Step // of uninstall: before and after the files are removed
	prepare       []Step // of install: before the files are written, at the front of Commands
}

// Change is one file and its change.
type Change struct {
	Path  string `json:"path"`
	State string `json:"state"` // new, changed, unchanged, removed
	Text  string `json:"text,omitempty"`

	name string      // as the service manager knows it
	mode fs.FileMode // 0 = 0600
}

// Install plans the steps that make hookd a service of this user.
func (m *Machine) Install(o Options) (*Plan, error) {
	s, notes, err := m.service(o)
	if err != nil {
		return nil, err
	}
	var prepare []Step
	if m.ofSystem {
		if prepare, err = m.prepareSystem(); err != nil {
			return nil, err
		}
	}
	mgr := m.manager()
	files, err := mgr.files(s)
	if err != nil {
		return nil, fail("choose paths without such characters, then type `hookd install`", "write the service's files: %w", err)
	}
	p := &Plan{Program: s.Program, Notes: notes, machine: m, manager: mgr}
	if p.Files, err = changes(mgr, files); err != nil {
		return nil, err
	}
	if m.ofSystem {
		p.Files = append(p.Files, firstSettings()...)
	}
	p.prepare, p.Commands = prepare, slices.Concat(prepare, mgr.start(p.changed))
	return p, nil
}

// Install writes the files and starts the service. Without a service manager
// that answers it leaves nothing behind: the error is ErrUnreachable. running
// returns the pid of a daemon that answers, 0 for none.
func (p *Plan) Install(ctx context.Context, running func() int) error {
	mgr := p.manager
	missing := mgr.reachable(ctx)
	if missing == nil && !mgr.active(ctx) {
		if pid := running(); pid > 0 {
			return fail("stop it with `hookd daemon stop`, then type `hookd install`", "hookd already runs with pid %d, and not as a service", pid)
		}
	}
	if missing != nil {
		p.Files, p.Commands = []Change{}, []Step{}
		p.Notes = append(p.Notes, mgr.without()...)
		return fail("do as it says above, or start it here with `hookd serve`", "%w: %w", ErrUnreachable, missing)
	}
	if err := safe(mgr); err != nil {
		return err
	}
	if err := p.machine.do(ctx, p.prepare); err != nil {
		return fail("do that by hand, then type `sudo hookd install --system`", "%w", err)
	}
	if err := apply(p.Files, mgr.folders()); err != nil {
		return fail("see the folder's permissions, then type `hookd install`", "%w", err)
	}
	if err := p.machine.do(ctx, p.Commands[len(p.prepare):]); err != nil {
		return fail(mgr.look(), "%w", err)
	}
	p.Notes = append(p.Notes, mgr.started()...)
	return nil
}

// Uninstall plans the steps that take back Install. A plan without files has nothing to do.
func (m *Machine) Uninstall() (*Plan, error) {
	mgr := m.manager()
	p := &Plan{Notes: []string{"hooks, settings and history stay where they are"}, machine: m, manager: mgr}
	if m.ofSystem {
		p.Notes = append(p.Notes, "agents ask the system daemon for as long as "+system.Here().Settings()+
			" is there: remove that file to end it")
	}
	var err error
	if p.Files, err = changes(mgr, nil); err != nil {
		return nil, err
	}
	if len(p.Files) == 0 {
		p.Notes = []string{"hookd is not installed as a service"}
		return p, nil
	}
	p.before, p.after = mgr.stop()
	p.Commands = append(p.before[:len(p.before):len(p.before)], p.after...)
	return p, nil
}

// Uninstall stops the service and removes its files. A service manager that does
// not answer is a note, not an error.
func (p *Plan) Uninstall(ctx context.Context) error {
	mgr, before, after := p.manager, p.before, p.after
	if err := mgr.reachable(ctx); err != nil {
		before, after, p.Commands = nil, nil, []Step{}
		p.Notes = append(p.Notes, "the service manager was not told: "+err.Error())
	}
	if err := p.machine.do(ctx, before); err != nil {
		return fail(mgr.look(), "%w", err)
	}
	if err := apply(p.Files, nil); err != nil {
		return fail("see the folder's permissions, then type `hookd uninstall`", "%w", err)
	}
	mgr.tidy()
	if err := p.machine.do(ctx, after); err != nil {
		return fail(mgr.look(), "%w", err)
	}
	return nil
}

// safe refuses folders of units, or of logs, that other users can write to: a file of
// theirs would run as this user.
func safe(mgr manager) error {
	folders := append([]string{mgr.folder()}, mgr.folders()...)
	for _, name := range mgr.names() {
		folders = append(folders, filepath.Dir(filepath.Join(mgr.folder(), name)))
	}
	for _, dir := range folders {
		if r := others(dir); r != nil {
			return fail("type `"+r.Do+"`, then `hookd install`", "others could change the service: %s %s", r.Path, r.Fact)
		}
	}
	return nil
}

// changes compares the planned files with those on the disk. A file that install did
// not write is not replaced; it is an error.
func changes(mgr manager, files []packaging.File) (list []Change, err error) {
	want := map[string]string{}
	for _, f := range files {
		want[f.Name] = f.Text
	}
	for _, name := range mgr.names() {
		c := Change{Path: filepath.Join(mgr.folder(), name), name: name}
		text, wanted := want[name]
		have, err := readfile.Read(c.Path, readfile.Limit)
		there := err == nil
		ours := there && bytes.Contains(have, []byte(packaging.Mark))
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, fail("see its permissions with `ls -l "+c.Path+"`, then type `hookd install`", "%w", err)
		case wanted && there && !ours:
			return nil, fail("move it away, then type `hookd install`", "%s was not written by `hookd install`", c.Path)
		case wanted && !there:
			c.State, c.Text = "new", text
		case wanted && (string(have) != text || !private(c.Path)):
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

// private reports whether only the user can read a file.
func private(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&0o077 == 0
}

func (p *Plan) changed(name string) bool {
	for _, c := range p.Files {
		if c.name == name && c.State != "unchanged" {
			return true
		}
	}
	return false
}

// apply writes and removes the files, and makes the folders.
func apply(files []Change, folders []string) error {
	for _, dir := range folders {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	for _, c := range files {
		var err error
		switch c.State {
		case "new", "changed":
			err = os.MkdirAll(filepath.Dir(c.Path), 0o755)
			if err == nil {
				err = replacefile.Write(c.Path, []byte(c.Text)) // for the user alone: variables may be keys
			}
			if err == nil && c.mode != 0 {
				err = os.Chmod(c.Path, c.mode)
			}
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

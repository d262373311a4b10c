// Package hookfiles does for the page of `hookd ui` the work on files of hooks that the socket does
// not do. It lists the versions that wait to be allowed and allows them, switches hooks on and off,
// and asks an edited copy of a hook about the past. The commands share its parts.
//
// It promises: the allowed version is exactly the version that was shown, or it is an error. Its
// changes are recorded with the door page. An edit is made in a temporary folder, which is removed;
// the hook itself stays as it is. It keeps nothing between two calls, and the settings are read for
// each: they may change while a page is open.
package hookfiles

import (
	"fmt"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/people/ui"
)

// Door is the name that records give to acts on the page.
const Door = "page"

// Files are the hooks of the settings that Load returns. Both fields are required.
type Files struct {
	Load   func() (config.Config, error)
	Client *client.Client // of the daemon whose history a hook is asked about
}

// Waiting lists the hooks that wait to be allowed; none where the settings cannot be read,
// which `hookd status` reports.
func (f Files) Waiting() (list []ui.Waiting) {
	cfg, err := f.Load()
	if err != nil {
		return nil
	}
	for _, w := range catalog.Waiting(cfg) {
		v := ui.Waiting{
			Hook: w.Name, File: w.File, New: w.New, Gone: w.Gone, Digest: w.Digest, Changes: w.Changes,
			Refused: w.Refused, Hidden: w.Hidden, Diffs: []ui.Diff{},
		}
		for _, t := range w.Diffs {
			v.Diffs = append(v.Diffs, ui.Diff{Path: t.Path, Lines: Lines(t.Old, t.New)})
		}
		list = append(list, v)
	}
	return list
}

// Allow allows the version that was shown.
func (f Files) Allow(shown ui.Waiting) error {
	cfg, err := f.Load()
	if err != nil {
		return err
	}
	for _, w := range catalog.Waiting(cfg) {
		if w.Name == shown.Hook && w.Digest == shown.Digest && w.Gone == shown.Gone {
			w.Door = Door
			return catalog.Allow(cfg, w)
		}
	}
	return fmt.Errorf("hook %s has changed again: look at it once more", shown.Hook)
}

// Switch switches a hook on or off. A name that no hook has is an error: a marker for it would
// switch nothing off, in silence. So is a hook of a signed policy, which stays on.
func (f Files) Switch(hook string, on bool) error {
	cfg, err := f.Load()
	if err != nil {
		return err
	}
	if !on && catalog.LayerOf(hook).Signed() {
		return fmt.Errorf("%s is of the policy: its hooks cannot be switched off", hook)
	}
	known := false
	for _, e := range catalog.Scan(cfg).Entries {
		known = known || e.Name == hook
	}
	if !known {
		return fmt.Errorf("no hook %q in %s: see them with `hookd list`", hook, cfg.HooksDir)
	}
	return catalog.Switch(cfg, hook, on, Door)
}

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
	"time"

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
	cfg, err := f.named(hook, !on)
	if err != nil {
		return err
	}
	return catalog.Switch(cfg, hook, on, Door)
}

// Snooze switches a hook off until a time. Its errors are those of Switch.
func (f Files) Snooze(hook string, until time.Time) error {
	cfg, err := f.named(hook, true)
	if err != nil {
		return err
	}
	return catalog.Snooze(cfg, hook, until, Door)
}

// named returns the settings if they have the hook, and it may be switched off where off is true.
func (f Files) named(hook string, off bool) (cfg config.Config, err error) {
	if cfg, err = f.Load(); err != nil {
		return cfg, err
	}
	if off && catalog.LayerOf(hook).Signed() {
		return cfg, fmt.Errorf("%s is of the policy: its hooks cannot be switched off", hook)
	}
	for _, e := range catalog.Scan(cfg).Entries {
		if e.Name == hook {
			return cfg, nil
		}
	}
	return cfg, fmt.Errorf("no hook %q in %s: see them with `hookd list`", hook, cfg.HooksDir)
}

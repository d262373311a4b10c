package daemon

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/source/hookdir"
	"github.com/hookd/hookd/internal/store"
)

// lastGood is what a hook's file said when it was last good: a guard whose file
// is broken must still be there after a restart. It fits discovery.Options.
func (d *Daemon) lastGood(unit hook.Source) []byte {
	for _, m := range d.store.Manifests() {
		if m.Source == unit.String() {
			return m.Text
		}
	}
	return nil
}

// keepGood notes the files of all hooks that are good now, and forgets those
// that are no longer there. It reads files, so it stands in nobody's way.
func (d *Daemon) keepGood(snap *hook.Snapshot) {
	d.keeping.Lock()
	defer d.keeping.Unlock()
	if len(snap.Entries) >= discovery.ManyHooks {
		defer debug.FreeOSMemory() // as discovery does after reading them
	}
	kept := map[string]store.Manifest{}
	for _, m := range d.store.Manifests() {
		kept[m.Source] = m
	}
	for unit, entries := range bySource(snap) {
		old, known := kept[unit.String()]
		delete(kept, unit.String())
		m := store.Manifest{Source: unit.String(), Name: entries[0].Name, Digest: digests(entries)}
		if m.Digest == "" || known && m.Digest == old.Digest {
			continue
		}
		text, err := os.ReadFile(entries[0].File)
		if err != nil || known && bytes.Equal(text, old.Text) {
			continue
		}
		if m.Text = text; d.reads(unit, m) {
			m.At = snap.Loaded
			d.store.SaveManifest(m)
		}
	}
	for source := range kept {
		if gone(source) {
			d.store.DropManifest(source)
		}
	}
}

func bySource(snap *hook.Snapshot) map[hook.Source][]hook.Entry {
	units := map[hook.Source][]hook.Entry{}
	for _, e := range snap.Entries {
		units[e.Source] = append(units[e.Source], e)
	}
	return units
}

// digests sums up the hooks of one file; "" when they are not what it says.
func digests(entries []hook.Entry) string {
	var list []string
	for _, e := range entries {
		if e.Hook == nil || e.State != hook.Active && e.State != hook.Disabled || !filepath.IsAbs(e.File) {
			return ""
		}
		list = append(list, e.Hook.Digest)
	}
	return strings.Join(list, " ")
}

// reads reports whether the text, which may be newer than the snapshot, is good.
func (d *Daemon) reads(unit hook.Source, m store.Manifest) bool {
	if parse := fileParsers[unit.Type]; parse != nil {
		hooks, _ := parse(unit.Path, m.Text)
		return len(hooks) > 0
	}
	h, _ := hookdir.ReadText(unit.Path, m.Text, readOptions(*d.config.Load(), false))
	return h != nil
}

// gone reports whether a unit was removed, and not only its whole directory,
// which may be a disk that is not mounted.
func gone(source string) bool {
	_, path, _ := strings.Cut(source, ":")
	_, err := os.Lstat(path)
	_, above := os.Lstat(filepath.Dir(path))
	return errors.Is(err, fs.ErrNotExist) && above == nil
}

package catalog

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/record/store"
)

// Manifests is where LastGood retains files; the store is one.
type Manifests interface {
	Manifests() []store.Manifest
	SaveManifest(store.Manifest)
	DropManifest(source string)
}

// LastGood stores the text of hooks' files when they were last good: a guard whose file
// is broken must still be in force after a restart.
type LastGood struct {
	files Manifests
	mu    sync.Mutex // one Save at a time
}

// NewLastGood returns a LastGood that stores in files.
func NewLastGood(files Manifests) *LastGood { return &LastGood{files: files} }

// Text returns the last good text of a source's file, nil if it is not known. It fits
// discovery.Options.
func (g *LastGood) Text(source hook.Source) []byte {
	for _, m := range g.files.Manifests() {
		if m.Source == source.String() {
			return m.Text
		}
	}
	return nil
}

// Sources returns the sources whose last good text is known.
func (g *LastGood) Sources() (sources []hook.Source) {
	for _, m := range g.files.Manifests() {
		if kind, path, ok := strings.Cut(m.Source, ":"); ok {
			sources = append(sources, hook.Source{Type: kind, Path: path})
		}
	}
	return sources
}

// Save stores the files of all hooks that are good now, and removes files of hooks that
// are gone. It uses files, so it can hang with them.
func (g *LastGood) Save(snap *hook.Snapshot) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(snap.Entries) >= discovery.ManyHooks {
		defer debug.FreeOSMemory() // as discovery does after reading them
	}
	kept := map[string]store.Manifest{}
	for _, m := range g.files.Manifests() {
		kept[m.Source] = m
	}
	for source, entries := range bySource(snap) {
		old, known := kept[source.String()]
		delete(kept, source.String())
		m := store.Manifest{Source: source.String(), Name: entries[0].Name, Digest: digests(entries)}
		if m.Digest == "" || known && m.Digest == old.Digest {
			continue
		}
		text := entries[0].Hook.Text // what was read and is in force, whatever the file says by now
		if len(text) == 0 || known && bytes.Equal(text, old.Text) {
			continue
		}
		m.Text, m.At = text, snap.Loaded
		g.files.SaveManifest(m)
	}
	for source := range kept {
		if gone(source) {
			g.files.DropManifest(source)
		}
	}
}

func bySource(snap *hook.Snapshot) map[hook.Source][]hook.Entry {
	sources := map[hook.Source][]hook.Entry{}
	for _, e := range snap.Entries {
		sources[e.Source] = append(sources[e.Source], e)
	}
	return sources
}

// digests returns the digests of the hooks of one file; "" when the file is not in force.
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

// gone reports whether a source was removed. If its whole directory is missing that may be
// a disk that is not mounted, and is no removal.
func gone(source string) bool {
	_, path, _ := strings.Cut(source, ":")
	_, err := os.Lstat(path)
	_, above := os.Lstat(filepath.Dir(path))
	return errors.Is(err, fs.ErrNotExist) && above == nil
}

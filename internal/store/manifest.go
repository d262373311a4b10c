package store

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Manifest is a hook file as it was when it was last good.
type Manifest struct {
	Source string // names the file or folder, unique
	Name   string // of the hook, for people
	Digest string
	Text   []byte // never changed
	At     time.Time
}

// shelf has all manifests in memory: they are few, and must outlive the file.
type shelf struct {
	mu   sync.Mutex
	list map[string]Manifest
}

func newShelf() *shelf { return &shelf{list: map[string]Manifest{}} }

func (sh *shelf) all() []Manifest {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return slices.SortedFunc(maps.Values(sh.list), func(a, b Manifest) int { return cmp.Compare(a.Source, b.Source) })
}

// fill reads what is on disk; what was saved in the meantime is newer.
func (sh *shelf) fill(db *database) error {
	saved, err := query(db, func(row scanner) (m Manifest, err error) {
		var at int64
		err = row.Scan(&m.Source, &m.Name, &m.Digest, &m.Text, &at)
		m.At = moment(at)
		return m, err
	}, `SELECT source, name, digest, text, at FROM manifests`)
	if err != nil {
		return err
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for _, m := range saved {
		if _, known := sh.list[m.Source]; !known {
			sh.list[m.Source] = m
		}
	}
	return nil
}

// Manifests returns all, in the order of their sources. It never waits.
func (s *Store) Manifests() []Manifest { return s.shelf.all() }

// SaveManifest keeps m in place of the one with the same Source. It is on disk
// a moment later.
func (s *Store) SaveManifest(m Manifest) {
	s.shelf.mu.Lock()
	old, known := s.shelf.list[m.Source]
	s.shelf.list[m.Source] = m
	s.shelf.mu.Unlock()
	if known && old.Digest == m.Digest && old.Name == m.Name {
		return
	}
	exec := func(db *database) error { return saveManifest(db, m) }
	s.queue.add(&op{exec: exec, lean: exec, size: len(m.Text)})
}

// DropManifest forgets the one of source.
func (s *Store) DropManifest(source string) {
	s.shelf.mu.Lock()
	delete(s.shelf.list, source)
	s.shelf.mu.Unlock()
	exec := func(db *database) error {
		_, err := db.exec(`DELETE FROM manifests WHERE source = ?`, source)
		return err
	}
	s.queue.add(&op{exec: exec, lean: exec})
}

func saveManifest(db *database, m Manifest) error {
	_, err := db.exec(`INSERT OR REPLACE INTO manifests (source, name, digest, text, at) VALUES (?, ?, ?, ?, ?)`, m.Source, m.Name, m.Digest, nonNil(m.Text), nanos(m.At))
	if err != nil {
		return fmt.Errorf("save manifest of %s: %w", m.Source, err)
	}
	return nil
}

func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

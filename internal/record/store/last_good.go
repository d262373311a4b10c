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

// manifests has all of them in memory: they are few, and must outlive the file.
type manifests struct {
	mu   sync.Mutex
	list map[string]Manifest
}

func newManifests() *manifests { return &manifests{list: map[string]Manifest{}} }

func (ms *manifests) all() []Manifest {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	return slices.SortedFunc(maps.Values(ms.list), func(a, b Manifest) int { return cmp.Compare(a.Source, b.Source) })
}

// fill reads the manifests on disk; manifests saved in the meantime are newer.
func (ms *manifests) fill(db *database) error {
	saved, err := query(db, func(row scanner) (m Manifest, err error) {
		var at int64
		err = row.Scan(&m.Source, &m.Name, &m.Digest, &m.Text, &at)
		m.At = moment(at)
		return m, err
	}, `SELECT source, name, digest, text, at FROM manifests`)
	if err != nil {
		return err
	}
	ms.mu.Lock()
	defer ms.mu.Unlock()
	for _, m := range saved {
		if _, known := ms.list[m.Source]; !known {
			ms.list[m.Source] = m
		}
	}
	return nil
}

// manifestTable keeps manifests, in memory and in the database.
type manifestTable struct {
	*core
	manifests *manifests
}

// Manifests returns all, in the order of their sources. It never waits.
func (s *manifestTable) Manifests() []Manifest { return s.manifests.all() }

// SaveManifest keeps m in place of the one with the same Source. It is on disk
// a moment later.
func (s *manifestTable) SaveManifest(m Manifest) {
	s.manifests.mu.Lock()
	old, known := s.manifests.list[m.Source]
	s.manifests.list[m.Source] = m
	s.manifests.mu.Unlock()
	if known && old.Digest == m.Digest && old.Name == m.Name {
		return
	}
	s.later(len(m.Text), func(db *database) error { return saveManifest(db, m) })
}

// DropManifest forgets the one of source.
func (s *manifestTable) DropManifest(source string) {
	s.manifests.mu.Lock()
	delete(s.manifests.list, source)
	s.manifests.mu.Unlock()
	s.later(0, func(db *database) error {
		_, err := db.exec(`DELETE FROM manifests WHERE source = ?`, source)
		return err
	})
}

func saveManifest(db *database, m Manifest) error {
	_, err := db.exec(`INSERT OR REPLACE INTO manifests (source, name, digest, text, at) VALUES (?, ?, ?, ?, ?)`,
		m.Source, m.Name, m.Digest, nonNil(m.Text), nanos(m.At))
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

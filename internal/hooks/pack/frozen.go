package pack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
)

// Restored says where Frozen had one pack from.
type Restored struct {
	Name string `json:"name"`
	From string `json:"from"` // in place, cache, or where it was fetched from
}

// Frozen makes packs equal to hooks.lock, byte for byte, and changes nothing in
// hooks.lock. Packs that fit stay; packs in the cache need no network.
func (h Home) Frozen(ctx context.Context, cache Cache) (list []Restored, err error) {
	lock, err := h.Lock()
	if err != nil {
		return nil, err
	}
	if len(lock.Packs) == 0 {
		return nil, fmt.Errorf("%s names no pack", h.LockFile())
	}
	for _, name := range slices.Sorted(maps.Keys(lock.Packs)) {
		r, err := h.restore(ctx, name, lock.Packs[name], cache)
		if err != nil {
			return list, fmt.Errorf("pack %s: %w", name, err)
		}
		list = append(list, r)
	}
	return list, nil
}

func (h Home) restore(ctx context.Context, name string, l Locked, cache Cache) (Restored, error) {
	if c, err := h.Installed(name); err == nil && l.Differs(c) == "" {
		return Restored{name, "in place"}, nil
	}
	f, from := Fetched{Source: l.Source(), Commit: l.Commit}, "cache"
	if f.Content = cache.get(l); f.Content == nil {
		from = l.Source().String()
		var err error
		if l.Kind == FromGit {
			f, err = fetchGit(ctx, l.Source(), l.Commit)
		} else {
			f, err = Fetch(ctx, l.Source())
		}
		if err != nil {
			return Restored{}, err
		}
	}
	if file := l.Differs(f.Content); file != "" {
		return Restored{}, fmt.Errorf("%s from %s is not what hooks.lock says", file, l.Source())
	}
	s, err := h.Stage(name, f)
	if err != nil {
		return Restored{}, err
	}
	defer s.Discard()
	return Restored{name, from}, h.locked(func() error { return h.swap(name, s.Dir) })
}

// Cache holds packs that were fetched before, for every home of the user. The
// zero Cache holds none.
type Cache struct{ dir string }

// maxCached is how many packs are cached.
const maxCached = 64

// NewCache returns the cache in dir, which need not exist.
func NewCache(dir string) Cache { return Cache{dir} }

func (c Cache) file(l Locked) string {
	text, _ := json.Marshal(l.Files) // in the order of the keys
	sum := sha256.Sum256(text)
	return filepath.Join(c.dir, hex.EncodeToString(sum[:])+".json")
}

// get returns a pack that is exactly as l says; nil = it is not cached.
func (c Cache) get(l Locked) (content Content) {
	if c.dir == "" || l.Kind != FromGit {
		return nil
	}
	text, err := readfile.Read(c.file(l), 2*MaxBytes)
	if err != nil || json.Unmarshal(text, &content) != nil {
		return nil
	}
	if content, _, err = content.Check(); err != nil || l.Differs(content) != "" {
		return nil
	}
	return content
}

// Put keeps a fetched pack. The pack used longest ago goes.
func (c Cache) Put(f Fetched) error {
	if c.dir == "" || f.Source.Kind != FromGit {
		return nil
	}
	text, err := json.Marshal(f.Content)
	if err == nil {
		err = replacefile.MkdirAll(c.dir)
	}
	if err == nil {
		err = replacefile.Write(c.file(lockOf(f)), bytes.TrimSpace(text))
	}
	if err != nil {
		return fmt.Errorf("keep the pack for later: %w", err)
	}
	return c.evict()
}

func (c Cache) evict() error {
	type cached struct {
		path string
		used time.Time
	}
	var list []cached
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		var info fs.FileInfo
		if info, err = e.Info(); err == nil && filepath.Ext(e.Name()) == ".json" {
			list = append(list, cached{filepath.Join(c.dir, e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(list, func(a, b cached) int { return b.used.Compare(a.used) })
	for _, old := range list[min(len(list), maxCached):] {
		_ = os.Remove(old.path) // another time
	}
	return nil
}

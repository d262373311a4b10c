package trust

import (
	"io/fs"
	"os"
	"strings"
	"sync"
)

// cache has the facts of paths that many hooks share: the directories above them,
// and the interpreters of their scripts.
type cache struct {
	plain *Checker // without a cache

	mu     sync.Mutex // guards all below
	facts  map[string]*fact
	links  map[string]linkTarget
	heads  map[string]string // first lines of programs
	sums   map[string]read
	status map[string]status // what paths lead to
	root   map[string]bool   // see installed
}

type status struct {
	info fs.FileInfo
	err  error
}

type linkTarget struct {
	path string
	err  error
}

// Cached returns a Checker for one scan of many hooks: it reads a path outside of a
// hook's own folder once only. The seals that it makes do not use the cache.
func (c *Checker) Cached() *Checker {
	next := *c
	next.cache = &cache{
		plain: c, facts: map[string]*fact{}, links: map[string]linkTarget{},
		heads: map[string]string{}, sums: map[string]read{}, status: map[string]status{}, root: map[string]bool{},
	}
	return &next
}

func (c *Checker) uncached() *Checker {
	if c.cache == nil {
		return c
	}
	return c.cache.plain
}

// isCached reports whether c has a cache and path is outside of home.
func (c *Checker) isCached(path, home string) bool {
	if c.cache == nil {
		return false
	}
	rest, inside := strings.CutPrefix(path, home)
	return home == "" || !inside || rest != "" && rest[0] != '/'
}

// lstat returns the fact of a path, for a hook whose folder is home, without
// following a link at its end. Callers do not change the fact.
func (c *Checker) lstat(path, home string) *fact {
	return cached(c, path, home, func(m *cache) map[string]*fact { return m.facts }, func() *fact {
		f := lstat(path)
		return &f
	})
}

// current is lstat for a fact that the caller does not retain.
func (c *Checker) current(path, home string) fact {
	if c.isCached(path, home) {
		return *c.lstat(path, home)
	}
	return lstat(path)
}

func (c *Checker) readLink(path, home string) (string, error) {
	t := cached(c, path, home, func(m *cache) map[string]linkTarget { return m.links }, func() linkTarget {
		to, err := os.Readlink(path)
		return linkTarget{to, err}
	})
	return t.path, t.err
}

// firstLine is the function of that name, for a hook that runs in home. It walks the
// file first: if the file changes before its line is read, the seal has the file
// from before, and so does not match.
func (c *Checker) firstLine(file, home string) string {
	if !c.isCached(file, home) {
		return firstLine(file)
	}
	return cached(c, file, home, func(m *cache) map[string]string { return m.heads }, func() string {
		c.walk().path(file, above)
		return firstLine(file)
	})
}

// sum is summed for a hook whose folder is home.
func (c *Checker) sum(path, home string) read {
	sums := func(m *cache) map[string]read { return m.sums }
	return cached(c, path, home, sums, func() read { return summed(path) })
}

// cached returns the result of look, from the cache if path is in it.
func cached[T any](c *Checker, path, home string, of func(*cache) map[string]T, look func() T) T {
	if !c.isCached(path, home) {
		return look()
	}
	c.cache.mu.Lock()
	v, known := of(c.cache)[path]
	c.cache.mu.Unlock()
	if known {
		return v
	}
	v = look()
	c.cache.mu.Lock()
	of(c.cache)[path] = v
	c.cache.mu.Unlock()
	return v
}

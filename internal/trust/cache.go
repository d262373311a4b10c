package trust

import (
	"io/fs"
	"os"
	"strings"
	"sync"
)

// memory keeps what was seen of paths that many hooks share: the directories
// above them, and the interpreters of their scripts.
type memory struct {
	plain *Checker // the one without it

	mu     sync.Mutex // guards all below
	facts  map[string]*fact
	links  map[string]linkTarget
	heads  map[string]string // first lines of programs
	status map[string]status // what paths lead to
}

type status struct {
	info fs.FileInfo
	err  error
}

type linkTarget struct {
	path string
	err  error
}

// Once returns a Checker for one look at many hooks: what is outside of a
// hook's own folder it looks at no more than once. The seals that it makes do
// not remember anything.
func (c *Checker) Once() *Checker {
	next := *c
	next.memory = &memory{plain: c, facts: map[string]*fact{}, links: map[string]linkTarget{}, heads: map[string]string{}, status: map[string]status{}}
	return &next
}

func (c *Checker) forgetful() *Checker {
	if c.memory == nil {
		return c
	}
	return c.memory.plain
}

// remembers reports whether a path is outside of home, and c has a memory.
func (c *Checker) remembers(path, home string) bool {
	if c.memory == nil {
		return false
	}
	rest, inside := strings.CutPrefix(path, home)
	return home == "" || !inside || rest != "" && rest[0] != '/'
}

// lookAt looks at a path, for a hook whose folder is home, without following a
// link at its end. Nobody changes what it returns.
func (c *Checker) lookAt(path, home string) *fact {
	return remembered(c, path, home, func(m *memory) map[string]*fact { return m.facts }, func() *fact {
		f := lookAt(path)
		return &f
	})
}

// glance is lookAt for a fact that is not kept.
func (c *Checker) glance(path, home string) fact {
	if c.remembers(path, home) {
		return *c.lookAt(path, home)
	}
	return lookAt(path)
}

func (c *Checker) readLink(path, home string) (string, error) {
	t := remembered(c, path, home, func(m *memory) map[string]linkTarget { return m.links }, func() linkTarget {
		to, err := os.Readlink(path)
		return linkTarget{to, err}
	})
	return t.path, t.err
}

// firstLine is the function of that name, for a hook that runs in home. The file
// is looked at first: should it change before its line is read, the seal is that
// of the file before.
func (c *Checker) firstLine(file, home string) string {
	if !c.remembers(file, home) {
		return firstLine(file)
	}
	return remembered(c, file, home, func(m *memory) map[string]string { return m.heads }, func() string {
		c.walk().path(file, above)
		return firstLine(file)
	})
}

// remembered returns what look returns, now or at the first time.
func remembered[T any](c *Checker, path, home string, of func(*memory) map[string]T, look func() T) T {
	if !c.remembers(path, home) {
		return look()
	}
	c.memory.mu.Lock()
	v, known := of(c.memory)[path]
	c.memory.mu.Unlock()
	if known {
		return v
	}
	v = look()
	c.memory.mu.Lock()
	of(c.memory)[path] = v
	c.memory.mu.Unlock()
	return v
}

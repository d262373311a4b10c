package hookdir

import (
	"sync"

	"github.com/hookd/hookd/internal/hooks/hook"
)

// Readings hands hooks that were read to the next Read of their folders: the checked hook
// comes into force, and is not read twice. The zero value has none, and so does
// nil. It may be used from several goroutines.
type Readings struct {
	mu   sync.Mutex
	kept map[readingKey]Reading
}

// Reading is the result of Read for a folder.
type Reading struct {
	Dir      string
	Hook     *hook.Hook // nil = it is rejected
	Problems []hook.Problem
}

// readingKey has the folder, and the options that differ within one scan.
type readingKey struct {
	dir, prefix string
	layer       hook.Layer
}

// Keep keeps readings made with opt, in place of those from before.
func (r *Readings) Keep(opt Options, list []Reading) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = make(map[readingKey]Reading, len(list))
	for _, one := range list {
		r.kept[opt.key(one.Dir)] = one
	}
}

// take returns the reading of a folder, once: its hook is the caller's.
func (r *Readings) take(dir string, opt Options) (one Reading, found bool) {
	if r == nil {
		return one, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := opt.key(dir)
	one, found = r.kept[key]
	delete(r.kept, key)
	return one, found
}

func (o Options) key(dir string) readingKey { return readingKey{dir, o.Prefix, o.Layer} }

package project

import (
	"strings"
	"sync"
	"time"
)

// Limits of a Finder.
const (
	maxKnown  = 4096                   // folders that are remembered
	maxLooks  = 16                     // folders that are looked at at once; those that hang count
	patience  = 100 * time.Millisecond // how long a folder may take that is asked for the first time
	freshness = time.Second            // how old an answer may be before it is looked up again
)

// Finder remembers in which working tree folders are. It is safe for concurrent
// use.
type Finder struct {
	look  func(dir string) string // the root of dir's working tree, "" = none
	looks chan struct{}           // one for each look that is under way

	mu    sync.RWMutex
	known map[string]*answer
	roots []string // see Roots
}

// answer is what is known of a folder.
type answer struct {
	root   string
	at     time.Time
	asking bool // it is being looked up again
}

// NewFinder returns a Finder that knows nothing yet.
func NewFinder() *Finder {
	return newFinder(func(dir string) string {
		r, _ := Find(dir)
		return r.Root
	})
}

func newFinder(look func(string) string) *Finder {
	return &Finder{look: look, looks: make(chan struct{}, maxLooks), known: map[string]*answer{}}
}

// Roots says which working trees have hooks: where the file system does not
// answer, a folder counts as part of the one whose path it begins with.
func (f *Finder) Roots(roots []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.roots = roots
}

// Root is the root of the working tree that dir is in, "" if there is none. The
// first time a folder is asked for it is looked at, for 100 ms at most; after
// that the answer comes from memory, and one that is older than a second is
// looked up again for the next time.
func (f *Finder) Root(dir string) string {
	if !strings.HasPrefix(dir, "/") {
		return ""
	}
	f.mu.RLock()
	known := f.known[dir]
	var root string
	fresh := false
	if known != nil {
		root, fresh = known.root, known.asking || time.Since(known.at) < freshness
	}
	f.mu.RUnlock()
	switch {
	case known == nil:
		return f.first(dir)
	case !fresh:
		f.again(dir)
	}
	return root
}

// first looks at a folder and waits for it. One that does not answer in time is
// known by its path until it does.
func (f *Finder) first(dir string) string {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case f.looks <- struct{}{}:
		found := make(chan string, 1)
		go func() {
			root := f.look(dir)
			f.note(dir, root)
			<-f.looks
			found <- root
		}()
		select {
		case root := <-found:
			return root
		case <-timer.C:
		}
	case <-timer.C:
	}
	return f.guess(dir)
}

// again looks at a folder that is known, while nothing waits for it.
func (f *Finder) again(dir string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.known[dir]
	if known == nil || known.asking {
		return
	}
	select {
	case f.looks <- struct{}{}:
	default:
		return // another time
	}
	known.asking = true
	go func() {
		f.note(dir, f.look(dir))
		<-f.looks
	}()
}

func (f *Finder) note(dir, root string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.known) >= maxKnown && f.known[dir] == nil {
		clear(f.known)
	}
	f.known[dir] = &answer{root: root, at: time.Now()}
}

// guess is the longest root with hooks that dir begins with. It is remembered
// unless dir has answered meanwhile.
func (f *Finder) guess(dir string) (root string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := f.known[dir]; known != nil {
		return known.root
	}
	for _, r := range f.roots {
		if (dir == r || strings.HasPrefix(dir, r+"/")) && len(r) > len(root) {
			root = r
		}
	}
	if len(f.known) < maxKnown {
		f.known[dir] = &answer{root: root, at: time.Now()}
	}
	return root
}

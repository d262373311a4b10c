package project

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	look  func(dir string) place
	looks chan struct{} // one for each look that is under way

	seen atomic.Pointer[sighting] // the last one of See

	mu    sync.RWMutex
	known map[string]*answer
	roots []string // see Trust
}

// place is where a folder is.
type place struct {
	root  string // of its working tree, "" = none
	hooks bool   // which brings hooks along
}

// answer is the knowledge of a folder.
type answer struct {
	place
	at     time.Time
	asking bool // it is being looked up again
}

// sighting is a folder that an event came from, and when.
type sighting struct {
	dir string
	at  time.Time
}

// NewFinder returns a Finder that knows nothing yet.
func NewFinder() *Finder {
	return newFinder(func(dir string) place {
		r, ok := Find(dir)
		return place{r.Root, ok && hasHooks(r.Root)}
	})
}

func newFinder(look func(string) place) *Finder {
	return &Finder{look: look, looks: make(chan struct{}, maxLooks), known: map[string]*answer{}}
}

// hasHooks reports whether a working tree brings hooks along.
func hasHooks(root string) bool {
	dir, err := os.Open(filepath.Join(root, HooksDir))
	if err != nil {
		return false
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(1) // what cannot be read has no hooks that may run
	return len(names) > 0
}

// Trust says which working trees have hooks that may run: where the file system does
// not answer, a folder counts as part of the tree whose path it begins with.
func (f *Finder) Trust(roots []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.roots = roots
}

// Untrusted are working trees of folders that were asked for which bring hooks
// along and are not trusted, by path.
func (f *Finder) Untrusted() (roots []string) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, a := range f.known {
		if a.hooks && !slices.Contains(f.roots, a.root) && !slices.Contains(roots, a.root) {
			roots = append(roots, a.root)
		}
	}
	slices.Sort(roots)
	return roots
}

// Root is the root of the working tree that dir is in, "" if there is none. The first
// time a folder is asked for it is looked at, for 100 ms at most; after that the answer
// comes from memory, and an answer older than a second is looked up again for the next
// time.
func (f *Finder) Root(dir string) string {
	root, known, fresh := f.recall(dir, time.Now(), freshness)
	switch {
	case !strings.HasPrefix(dir, "/"):
		return ""
	case !known:
		return f.first(dir)
	case !fresh:
		f.again(dir)
	}
	return root
}

// See is Root where no answer matters now: it never waits, and looks at a folder once a
// minute. The caller gives the time: to look at the clock takes longer than the rest.
// Nor is it looked up again within a second for a sender of many events.
func (f *Finder) See(dir string, now time.Time) {
	if last := f.seen.Load(); last != nil && last.dir == dir && now.Sub(last.at) < freshness {
		return
	}
	f.seen.Store(&sighting{dir, now})
	if _, known, fresh := f.recall(dir, now, time.Minute); !fresh && strings.HasPrefix(dir, "/") {
		if !known {
			f.note(dir, place{}, time.Time{})
		}
		f.again(dir)
	}
}

// recall returns the root that is known of a folder, and whether that answer is younger
// than age now.
func (f *Finder) recall(dir string, now time.Time, age time.Duration) (root string, known, fresh bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	a := f.known[dir]
	if a == nil {
		return "", false, false
	}
	return a.root, true, a.asking || now.Sub(a.at) < age
}

// first looks at a folder and waits for it. A folder that does not answer in time is
// known by its path until it does.
func (f *Finder) first(dir string) string {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case f.looks <- struct{}{}:
		found := make(chan string, 1)
		go func() {
			is := f.look(dir)
			f.note(dir, is, time.Now())
			<-f.looks
			found <- is.root
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
		f.note(dir, f.look(dir), time.Now())
		<-f.looks
	}()
}

func (f *Finder) note(dir string, is place, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.known) >= maxKnown && f.known[dir] == nil {
		clear(f.known)
	}
	f.known[dir] = &answer{place: is, at: at}
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
		f.known[dir] = &answer{place: place{root: root}, at: time.Now()}
	}
	return root
}

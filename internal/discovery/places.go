package discovery

import (
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// place is where hooks are read from. Its sources are folders or files.
// Each has the hook.Source that its hooks have, and its own last good version.
type place interface {
	// list returns the sources in registration order. If the place cannot be listed,
	// these are the known ones. It is called from several goroutines at once.
	list(known []hook.Source, files *readfile.Patience) listing
	// read reads one source. It is called from several goroutines at once.
	read(source hook.Source) reading
	// hung returns the reading of a source whose files do not answer.
	hung(source hook.Source) reading
	// restore makes the hooks of an earlier text of the source's file; nil if it
	// cannot be used any more. If blind it looks at no other file.
	restore(source hook.Source, text []byte, blind bool) []*hook.Hook
	// shared reports whether its hooks wait to be allowed whatever reload.mode says.
	shared() bool
	// contents returns the files that count as the content of a hook as they are now,
	// besides the files that it names.
	contents(h *hook.Hook) hook.Files
}

// listing has the sources of one place.
type listing struct {
	sources  []hook.Source
	watch    func(*watchSet) // adds the directories where sources come and go
	problems []hook.Problem  // that belong to no source
	hung     []hook.Source   // known sources of places that do not answer, registered before sources
}

// reading is the content of one source. A problem that is no warning rejects the source
// as a whole. Problems of one hook are in the hook.
type reading struct {
	name     string // of the source's entry when it has no hook
	file     string
	hooks    []*hook.Hook
	problems []hook.Problem // of the source as a whole
	notes    []hook.Problem // warnings that belong to no hook
	files    []string       // whose change can alter the reading
	absent   bool           // there is no source
	named    bool           // the settings name this one file, not a pattern
	still    bool           // nothing of it is watched
}

func (r reading) rejected() bool {
	return hook.Rejects(r.problems)
}

// places returns the places of one scan.
func places(opts Options, dirs Dirs) []place {
	root := opts.Root
	if abs, err := filepath.Abs(root); err == nil {
		root = abs
	}
	read := opts.Read.Once()
	list := []place{newHooksDir(Dir{Root: root}, read)}
	for _, f := range opts.Files {
		list = append(list, f)
	}
	var first, last []place
	if len(dirs.Fixed) > 0 {
		first = append(first, fixed(dirs.Fixed))
	}
	for _, dir := range dirs.List {
		switch here := newHooksDir(dir, read); {
		case dir.Layer.Signed():
			first = append(first, here)
		case dir.Project != "":
			last = append(last, here)
		default:
			list = append(list, here)
		}
	}
	if len(opts.Fixed) > 0 {
		list = append(list, fixed(opts.Fixed))
	}
	return slices.Concat(first, list, last)
}

// slowRead is how long a source holds its slot; after that another is read at the same
// time, because many file systems may hang. Once one has taken that long, the others
// hold theirs for nextSlow.
const (
	slowRead = 250 * time.Millisecond
	nextSlow = 20 * time.Millisecond
)

// readAll reads and judges sources in parallel, because it mostly waits for the system,
// and yields them in order as soon as they are ready. A source whose files do not
// answer fails.
func readAll(sources []found, v vetter, before map[hook.Source][]hook.Entry) iter.Seq[*scannedSource] {
	return func(yield func(*scannedSource) bool) {
		slots, out := make(chan struct{}, runtime.GOMAXPROCS(0)), make([]chan *scannedSource, len(sources))
		for i := range out {
			out[i] = make(chan *scannedSource, 1)
		}
		var most atomic.Int64
		most.Store(int64(slowRead))
		go func() {
			for i, u := range sources {
				slots <- struct{}{}
				go func() {
					free := sync.OnceFunc(func() { <-slots })
					slow := time.AfterFunc(time.Duration(most.Load()), func() {
						most.Store(int64(nextSlow))
						free()
					})
					out[i] <- readOne(u, v, before[u.source])
					slow.Stop()
					free()
				}()
			}
		}()
		for i := range out {
			if !yield(<-out[i]) {
				return
			}
			out[i] = nil
		}
	}
}

func readOne(f found, v vetter, before []hook.Entry) *scannedSource {
	isGone := func(e hook.Entry) bool { return e.State == hook.Gone } // such an entry belongs to no source
	before = slices.DeleteFunc(slices.Clone(before), isGone)
	read := make(chan *scannedSource, 1)
	if !f.hung && v.files.Try(f.source.String(), func() {
		r := f.in.read(f.source)
		for _, h := range r.hooks {
			v.sealRead(h)
		}
		read <- newSource(r, v, f.in, f.source, before)
	}) {
		return <-read
	}
	return hungSource(f.in, v, f.source, before)
}

// errHung is the error of files that do not answer.
var errHung = errors.New("its file system does not answer; other hooks are not affected")

// readDir lists a folder in byte order, unless its file system does not answer.
func readDir(dir string, files *readfile.Patience) ([]fs.DirEntry, error) {
	read := make(chan listed, 1)
	if !files.Try(dir, func() {
		entries, err := os.ReadDir(dir)
		read <- listed{entries, err}
	}) {
		return nil, errHung
	}
	l := <-read
	return l.entries, l.err
}

// listed has the entries of one folder.
type listed struct {
	entries []fs.DirEntry
	err     error
}

// readDirs lists folders at once, so that all folders that do not answer cost the time of
// one.
func readDirs(dirs []string, files *readfile.Patience) []listed {
	lists := make([]listed, len(dirs))
	var read sync.WaitGroup
	for i, dir := range dirs {
		read.Go(func() { lists[i].entries, lists[i].err = readDir(dir, files) })
	}
	read.Wait()
	return lists
}

// hungReading is the reading of a source whose files do not answer.
func hungReading(name, file string) reading {
	p := hook.Problem{File: file, Message: errHung.Error(), Hint: "see what is mounted there with `df`"}
	return reading{name: name, file: file, problems: []hook.Problem{p}}
}

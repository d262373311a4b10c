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
	"time"

	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/readfile"
)

// source is one place where hooks are read from. Its units are folders or files.
// Each has the hook.Source that its hooks have, and its own last good version.
type source interface {
	// list returns the units in registration order. If the place cannot be listed,
	// these are the units of the previous snapshot.
	list(previous []hook.Source, files *readfile.Patience) listing
	// read reads one unit. It is called from several goroutines at once.
	read(unit hook.Source) reading
	// hung returns the reading of a unit whose files do not answer.
	hung(unit hook.Source) reading
	// restore makes the hooks of an earlier text of the unit's file; nil if it
	// cannot be used any more.
	restore(unit hook.Source, text []byte) []*hook.Hook
	// shared reports whether its hooks wait to be allowed whatever reload.mode says.
	shared() bool
	// contents returns the files that count as the content of a hook as they are now,
	// besides those that it names.
	contents(h *hook.Hook) hook.Files
}

// listing has the units of one source.
type listing struct {
	units    []hook.Source
	watch    func(*watchSet) // adds the directories where units come and go
	problems []hook.Problem  // that belong to no unit
}

// reading is the content of one unit. A problem that is no warning rejects the unit
// as a whole. Problems of one hook are in the hook.
type reading struct {
	name     string // of the unit's entry when it has no hook
	file     string
	hooks    []*hook.Hook
	problems []hook.Problem // of the unit as a whole
	notes    []hook.Problem // warnings that belong to no hook
	files    []string       // whose change can alter the reading
	absent   bool           // there is no unit
	named    bool           // the settings name this one file, not a pattern
}

func (r reading) rejected() bool {
	return slices.ContainsFunc(r.problems, func(p hook.Problem) bool { return !p.Warning })
}

// sources returns the sources of one scan.
func sources(opts Options, dirs Dirs) []source {
	root := opts.Root
	if abs, err := filepath.Abs(root); err == nil {
		root = abs
	}
	read := opts.Read.Once()
	list := []source{newHooksDir(Dir{Root: root}, read)}
	for _, f := range opts.Files {
		list = append(list, f)
	}
	var projects []source // after all hooks of the user
	for _, dir := range dirs.List {
		if dir.Project != "" {
			projects = append(projects, newHooksDir(dir, read))
		} else {
			list = append(list, newHooksDir(dir, read))
		}
	}
	if len(opts.Fixed) > 0 {
		list = append(list, fixed(opts.Fixed))
	}
	return append(append(list, projects...), dirs.watched())
}

// slowRead is how long a unit holds its slot; after that another is read at the same
// time, because many file systems may hang.
const slowRead = 250 * time.Millisecond

// readAll reads and judges units in parallel, because it mostly waits for the system,
// and yields them in order as soon as they are ready. A unit whose files do not
// answer fails.
func readAll(s source, v vetter, units []hook.Source, before map[hook.Source][]hook.Entry) iter.Seq[*unit] {
	return func(yield func(*unit) bool) {
		slots, out := make(chan struct{}, runtime.GOMAXPROCS(0)), make([]chan *unit, len(units))
		for i := range out {
			out[i] = make(chan *unit, 1)
		}
		go func() {
			for i, unit := range units {
				slots <- struct{}{}
				go func() {
					free := sync.OnceFunc(func() { <-slots })
					slow := time.AfterFunc(slowRead, free)
					out[i] <- readOne(s, v, unit, before[unit])
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

func readOne(s source, v vetter, source hook.Source, before []hook.Entry) *unit {
	isGone := func(e hook.Entry) bool { return e.State == hook.Gone } // such an entry belongs to no unit
	before = slices.DeleteFunc(slices.Clone(before), isGone)
	read := make(chan *unit, 1)
	if v.files.Try(source.String(), func() {
		r := s.read(source)
		for _, h := range r.hooks {
			v.seal(h)
		}
		read <- newUnit(r, v, s, source, before)
	}) {
		return <-read
	}
	return hungUnit(s, v, source, before)
}

// errHung is the error of files that do not answer.
var errHung = errors.New("its file system does not answer; other hooks are not affected")

// readDir lists a folder in byte order, unless its file system does not answer.
func readDir(dir string, files *readfile.Patience) ([]fs.DirEntry, error) {
	type listed struct {
		entries []fs.DirEntry
		err     error
	}
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

// hungReading is the reading of a unit whose files do not answer.
func hungReading(name, file string) reading {
	p := hook.Problem{File: file, Message: errHung.Error(), Hint: "see what is mounted there with `df`"}
	return reading{name: name, file: file, problems: []hook.Problem{p}}
}

func cause(err error) error {
	if path, ok := err.(*os.PathError); ok {
		return path.Err
	}
	return err
}

package discovery

import (
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/readfile"
	"github.com/hookd/hookd/internal/source/hookdir"
)

// source is one place where hooks are read from. A unit of it, a folder or a
// file, is named by the hook.Source that its hooks carry, and keeps its last
// good version on its own.
type source interface {
	// list finds the units there may be now, in registration order. The units
	// of the previous snapshot stay where the place cannot be listed.
	list(previous []hook.Source, files *readfile.Patience) listing
	// read reads one unit. It is called from several goroutines at once.
	read(unit hook.Source) reading
	// silent is the reading of a unit whose files do not answer.
	silent(unit hook.Source) reading
	// restore reads what the unit's file said once; nil when that cannot be
	// used any more.
	restore(unit hook.Source, text []byte) []*hook.Hook
}

// listing is what one source consists of.
type listing struct {
	units    []hook.Source
	watch    func(*spots)   // adds the spots where units come and go
	problems []hook.Problem // that belong to no unit
}

// reading is what one unit says. A problem that is no warning rejects it as a
// whole. Problems of one hook stand with the hook.
type reading struct {
	name     string // of its entry when it holds no hook
	file     string
	hooks    []*hook.Hook
	problems []hook.Problem // of the unit as a whole
	notes    []hook.Problem // warnings of no hook that is there
	files    []string       // whose change can alter the reading
	absent   bool           // there is no unit
	named    bool           // by the settings, one by one
}

func (r reading) rejected() bool {
	return slices.ContainsFunc(r.problems, func(p hook.Problem) bool { return !p.Warning })
}

// sources are those of one scan.
func sources(opts Options) []source {
	root := opts.Root
	if abs, err := filepath.Abs(root); err == nil {
		root = abs
	}
	list := []source{hooksDir{root, opts.Read.Once()}}
	for _, f := range opts.Files {
		list = append(list, f)
	}
	if len(opts.Fixed) > 0 {
		list = append(list, fixed(opts.Fixed))
	}
	return list
}

// slowRead is how long a unit may take before another is read in its place: of
// file systems that hang there may be many.
const slowRead = 250 * time.Millisecond

// readAll reads and judges units side by side, as most of it is waiting for the
// system, and yields them in their order as soon as they are there. A unit whose
// files do not answer is given up on and fails.
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
	before = slices.DeleteFunc(slices.Clone(before), func(e hook.Entry) bool { return e.State == hook.Gone }) // those stand in for no unit
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
	return silentUnit(s, v, source, before)
}

// hooksDir is the hooks directory: each folder in it is a unit of one hook.
type hooksDir struct {
	root string
	opts hookdir.Options
}

func (s hooksDir) list(previous []hook.Source, files *readfile.Patience) listing {
	l := listing{watch: func(w *spots) { w.entries(s.root, counts) }}
	entries, err := readDir(s.root, files) // in byte order
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if errors.Is(err, errSilent) {
			l.watch = func(*spots) {}
		}
		l.problems = []hook.Problem{{File: s.root, Message: "read hooks directory: " + cause(err).Error()}}
		for _, unit := range previous {
			if unit.Type == hookdir.SourceType && filepath.Dir(unit.Path) == s.root {
				l.units = append(l.units, unit)
			}
		}
		return l
	}
	for _, e := range entries {
		if counts(e.Name()) && (e.IsDir() || e.Type()&os.ModeSymlink != 0) {
			l.units = append(l.units, hook.Source{Type: hookdir.SourceType, Path: filepath.Join(s.root, e.Name())})
		}
	}
	return l
}

// errSilent is what comes of files that do not answer.
var errSilent = errors.New("its file system does not answer; other hooks are not affected")

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
		return nil, errSilent
	}
	l := <-read
	return l.entries, l.err
}

// silentReading says that the files of a unit do not answer.
func silentReading(name, file string) reading {
	return reading{name: name, file: file, problems: []hook.Problem{{File: file, Message: errSilent.Error(), Hint: "see what is mounted there with `df`"}}}
}

// counts reports whether a name in the hooks directory is one that people
// give to hooks, not what editors and package managers leave behind.
func counts(name string) bool {
	if strings.HasPrefix(name, ".") {
		return false
	}
	for _, suffix := range []string{"~", ".swp", ".bak", ".tmp", ".disabled"} {
		if strings.HasSuffix(name, suffix) {
			return false
		}
	}
	return true
}

// read follows links: a linked folder counts. A link that leads to no folder is
// no hook; it may be one later.
func (s hooksDir) read(unit hook.Source) reading {
	if leadsNowhere(unit.Path) {
		return reading{absent: true, files: []string{unit.Path}}
	}
	h, problems := hookdir.Read(unit.Path, s.opts)
	r := reading{
		name:  filepath.Base(unit.Path),
		file:  filepath.Join(unit.Path, hookdir.FileName),
		files: hookdir.Files(unit.Path, h),
	}
	if h == nil {
		r.problems = problems
	} else {
		r.hooks, r.file = []*hook.Hook{h}, h.File // one string for both
	}
	return r
}

func leadsNowhere(path string) bool {
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		return false
	}
	info, err := os.Stat(path)
	return err != nil || !info.IsDir()
}

func (s hooksDir) silent(unit hook.Source) reading {
	return silentReading(filepath.Base(unit.Path), filepath.Join(unit.Path, hookdir.FileName))
}

func (s hooksDir) restore(unit hook.Source, text []byte) []*hook.Hook {
	if h, _ := hookdir.ReadText(unit.Path, text, s.opts); h != nil {
		return []*hook.Hook{h}
	}
	return nil
}

func cause(err error) error {
	if path, ok := err.(*os.PathError); ok {
		return path.Err
	}
	return err
}

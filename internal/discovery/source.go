package discovery

import (
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/source/hookdir"
)

// source is one place where hooks are read from. A unit of it, a folder or a
// file, is named by the hook.Source that its hooks carry, and keeps its last
// good version on its own.
type source interface {
	// list finds the units there are now, in registration order. The units
	// of the previous snapshot stay where the place cannot be listed.
	list(previous []hook.Source) listing
	// read reads one unit. It is called from several goroutines at once.
	read(unit hook.Source) reading
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
// whole.
type reading struct {
	name     string // of its entry when it holds no hook
	file     string
	hooks    []*hook.Hook
	problems []hook.Problem
	files    []string // whose change can alter the reading
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

// readAll reads and seals units side by side, as most of it is waiting for the
// system, and yields them in their order as soon as they are there.
func readAll(s source, v vetter, units []hook.Source) iter.Seq2[hook.Source, reading] {
	return func(yield func(hook.Source, reading) bool) {
		out, read := make([]reading, len(units)), make(chan int, len(units))
		var next atomic.Int64
		for range min(runtime.GOMAXPROCS(0), len(units)) {
			go func() {
				for i := next.Add(1) - 1; i < int64(len(units)); i = next.Add(1) - 1 {
					out[i] = s.read(units[i])
					for _, h := range out[i].hooks {
						v.seal(h)
					}
					read <- int(i)
				}
			}()
		}
		there := make([]bool, len(units))
		for i := range units {
			for !there[i] {
				there[<-read] = true
			}
			if !yield(units[i], out[i]) {
				return
			}
			out[i] = reading{}
		}
	}
}

// hooksDir is the hooks directory: each folder in it is a unit of one hook.
type hooksDir struct {
	root string
	opts hookdir.Options
}

func (s hooksDir) list(previous []hook.Source) listing {
	var links []string // that lead to no folder now: they may later
	l := listing{watch: func(w *spots) {
		w.entries(s.root, counts)
		for _, path := range links {
			w.file(s.root, path)
		}
	}}
	entries, err := os.ReadDir(s.root) // in byte order
	if err != nil && !os.IsNotExist(err) {
		l.problems = []hook.Problem{{File: s.root, Message: "read hooks directory: " + cause(err).Error()}}
		for _, unit := range previous {
			if unit.Type == hookdir.SourceType && filepath.Dir(unit.Path) == s.root {
				l.units = append(l.units, unit)
			}
		}
		return l
	}
	for _, e := range entries {
		path := filepath.Join(s.root, e.Name())
		switch {
		case !counts(e.Name()):
		case isFolder(path, e):
			l.units = append(l.units, hook.Source{Type: hookdir.SourceType, Path: path})
		case e.Type()&os.ModeSymlink != 0:
			links = append(links, path)
		}
	}
	return l
}

// isFolder follows links: a linked folder counts. A link that leads nowhere is
// no folder.
func isFolder(path string, e os.DirEntry) bool {
	if e.Type()&os.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
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

func (s hooksDir) read(unit hook.Source) reading {
	h, problems := hookdir.Read(unit.Path, s.opts)
	r := reading{
		name:     filepath.Base(unit.Path),
		file:     filepath.Join(unit.Path, hookdir.FileName),
		problems: problems,
		files:    hookdir.Files(unit.Path, h),
	}
	if h != nil {
		r.hooks, r.file = []*hook.Hook{h}, h.File // one string for both
	}
	return r
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

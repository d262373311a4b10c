package discovery

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
)

// Dir is a folder of hook folders. Only Root is needed.
type Dir struct {
	Root    string     // absolute; one that is a hook folder itself counts as that
	Hooks   []string   // names of the hook folders below Root, "." for Root; nil = all that are in it
	Named   bool       // the settings name Root: it is a problem when it is not there
	Layer   hook.Layer // of its hooks
	Prefix  string     // before their names
	Project string     // root of the only working tree whose events they get; "" = all events
	Shadow  bool       // its guards run in the shadow, and its other hooks do not

	// Files are all files of one of its folders; nil = only the files that the hook names count.
	Files func(folder string) hook.Files
}

// Dirs are the folders of hooks beside the hooks directory, in registration
// order: those of a policy come before everything else, those of projects after it.
type Dirs struct {
	List     []Dir
	Problems []hook.Problem // with finding them

	// Allowed has the approvals of hooks that others wrote, by ID: they wait
	// for one whatever Options.Approved is.
	Allowed map[string]Approval

	Fixed []*hook.Hook // hooks without a file, registered before all others

	// Off returns who has switched a hook off for all machines of the fleet, and why: it is
	// off, whatever its layer is. by "" = it is not off. A nil Off is the same.
	Off func(*hook.Hook) (by, why string)

	Files   []string // whose change can alter the answer
	Folders []string // in which what comes and goes can
}

// watch adds the files and folders that the other ones depend on.
func (d Dirs) watch(w *watchSet) {
	for _, file := range d.Files {
		w.file(filepath.Dir(file), file)
	}
	for _, folder := range d.Folders {
		w.entries(folder, func(string) bool { return true })
	}
}

// hooksDir reads one Dir: each folder in it is a source of one hook.
type hooksDir struct {
	Dir
	opts hookdir.Options
}

func newHooksDir(dir Dir, opts hookdir.Options) hooksDir {
	opts.Layer, opts.Prefix, opts.Project = dir.Layer, dir.Prefix, dir.Project
	return hooksDir{dir, opts}
}

func (s hooksDir) shared() bool { return s.Layer.Shared() }

// holds reports whether a source is one of the folder's.
func (d Dir) holds(source hook.Source) bool {
	if source.Type != hookdir.SourceType {
		return false
	}
	if d.Hooks == nil {
		return source.Path == d.Root || filepath.Dir(source.Path) == d.Root
	}
	name, err := filepath.Rel(d.Root, source.Path)
	return err == nil && slices.Contains(d.Hooks, name)
}

func (s hooksDir) list(known []hook.Source, files *readfile.Patience) listing {
	if s.Hooks != nil {
		l := listing{watch: func(*watchSet) {}}
		for _, name := range s.Hooks {
			l.sources = append(l.sources, s.source(name))
		}
		return l
	}
	l := listing{watch: func(w *watchSet) { w.entries(s.Root, counts) }}
	entries, err := readDir(s.Root, files) // in byte order
	if err != nil && (s.Named || !errors.Is(err, fs.ErrNotExist)) {
		if errors.Is(err, errHung) {
			l.watch = func(*watchSet) {}
		}
		p := hook.Problem{File: s.Root, Message: "read hooks directory: " + readfile.Cause(err).Error()}
		if s.Named {
			p.Hint = "see `sources` in hookd.yaml"
		}
		l.problems = []hook.Problem{p}
		for _, source := range known {
			if s.holds(source) {
				l.sources = append(l.sources, source)
			}
		}
		if errors.Is(err, errHung) {
			l.hung, l.sources = l.sources, nil
		}
		return l
	}
	for _, e := range entries {
		if s.Project != "" && len(l.sources) >= maxProjectHooks {
			l.problems = append(l.problems, hook.Problem{
				File: s.Root, Message: fmt.Sprintf("has more than %d hooks: the others do not run", maxProjectHooks),
				Hint: "ls " + escape.Quote(s.Root),
			})
			break
		}
		switch {
		case e.Name() == hookdir.FileName && s.Named:
			l.sources = []hook.Source{s.source(".")}
			return l
		case counts(e.Name()) && (e.IsDir() || e.Type()&os.ModeSymlink != 0):
			l.sources = append(l.sources, s.source(e.Name()))
		}
	}
	return l
}

// maxProjectHooks is how many hooks a project may have: a repository is not to make
// each scan long.
const maxProjectHooks = 100

func (s hooksDir) source(name string) hook.Source {
	return hook.Source{Type: hookdir.SourceType, Path: filepath.Join(s.Root, name)}
}

// counts reports whether people give a name in the hooks directory to a hook. Editors
// and package managers leave other names behind.
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
// no hook; it may be one later. A project's hook is in the project: a link is none. A signed
// hook must be there, whatever stands in its place.
func (s hooksDir) read(source hook.Source) reading {
	if !s.Layer.Signed() && (isBrokenLink(source.Path) || s.Project != "" && isLink(source.Path)) {
		return reading{absent: true, files: []string{source.Path}}
	}
	h, problems := hookdir.Read(source.Path, s.opts)
	r := reading{
		name:  s.Prefix + filepath.Base(source.Path),
		file:  filepath.Join(source.Path, hookdir.FileName),
		files: hookdir.Files(source.Path, h),
		// Another version is another folder, and a file that differs from the signed one does not
		// start. A watch would change no answer, and have a thousand hooks be read twice.
		still: s.Layer.Signed(),
	}
	if h == nil {
		r.problems = problems
		return r
	}
	h.Files = s.contents(h)
	s.shade(h)
	r.hooks, r.file = []*hook.Hook{h}, h.File // one string for both
	return r
}

// shade puts a hook of a folder in the shadow there. A hook that only observes would act
// twice: it is switched off.
func (s hooksDir) shade(h *hook.Hook) {
	if s.Shadow {
		h.Shadow, h.Enabled = true, h.Enabled && h.WouldGuard()
	}
}

func (s hooksDir) contents(h *hook.Hook) hook.Files {
	var f hook.Files
	if s.Files != nil {
		f = s.Files(h.Dir)
	}
	return withRules(f, h)
}

// withRules adds the files and folders that the rules of h were read from.
func withRules(f hook.Files, h *hook.Hook) hook.Files {
	if h.Rules == nil {
		return f
	}
	for _, file := range h.Rules.Files {
		if !slices.Contains(f.Paths, file.Path) {
			f.Paths = append(f.Paths, file.Path)
		}
	}
	for _, folder := range h.Rules.Folders {
		if !slices.Contains(f.Folders, folder) {
			f.Folders = append(f.Folders, folder)
		}
	}
	return f
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// isBrokenLink reports whether path is a link that leads to no folder.
func isBrokenLink(path string) bool {
	if !isLink(path) {
		return false
	}
	info, err := os.Stat(path)
	return err != nil || !info.IsDir()
}

func (s hooksDir) hung(source hook.Source) reading {
	return hungReading(s.Prefix+filepath.Base(source.Path), filepath.Join(source.Path, hookdir.FileName))
}

func (s hooksDir) restore(source hook.Source, text []byte, blind bool) []*hook.Hook {
	opts := s.opts
	opts.Blind = blind
	h, _ := hookdir.ReadText(source.Path, text, opts)
	if h == nil {
		return nil
	}
	if !blind {
		h.Files = s.contents(h)
	}
	s.shade(h)
	return []*hook.Hook{h}
}

package discovery

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// FilePlace is a place whose sources are files that hold many hooks.
type FilePlace struct {
	Type    string // of hook.Source
	Pattern string // absolute path of a file, or a glob of them; see filepath.Match
	Parse   Parse  // also for an earlier text of the file
}

// Parse makes hooks of the text of the file at path. It does not open the file.
type Parse = func(path string, text []byte) ([]*hook.Hook, []hook.Problem)

// ParseFile reads the file at path once and makes hooks from it.
func ParseFile(path string, parse Parse) ([]*hook.Hook, []hook.Problem) {
	path, err := filepath.Abs(path)
	if err == nil {
		var text []byte
		if text, err = readfile.Read(path, readfile.Limit); err == nil {
			return parse(path, text)
		}
	}
	return nil, []hook.Problem{{File: path, Message: readfile.Cause(err).Error()}}
}

// list returns the files that match the pattern. It reads each folder apart from the others,
// in byte order, so that a folder that does not answer affects only its own files. A
// missing file is a problem if the pattern is a plain path; a glob may match nothing.
func (s FilePlace) list(known []hook.Source, files *readfile.Patience) listing {
	var l listing
	var watches []func(*watchSet)
	paths := []string{"/"}
	for part := range strings.SplitSeq(strings.TrimPrefix(s.Pattern, "/"), "/") {
		if !hasMeta(part) {
			for i, dir := range paths {
				paths[i] = filepath.Join(dir, part)
			}
			continue
		}
		matches := func(name string) bool {
			ok, _ := filepath.Match(part, name) // config checks patterns
			return ok
		}
		var next []string
		for i, d := range readDirs(paths, files) {
			dir := paths[i]
			if errors.Is(d.err, errHung) {
				message := "look for " + s.Type + " files: " + d.err.Error()
				l.problems = append(l.problems, hook.Problem{File: dir, Message: message})
				l.hung = append(l.hung, s.below(dir, known)...)
				continue
			}
			watches = append(watches, func(w *watchSet) { w.entries(dir, matches) })
			for _, e := range d.entries {
				if matches(e.Name()) {
					next = append(next, filepath.Join(dir, e.Name()))
				}
			}
		}
		paths = next
	}
	for _, path := range paths {
		l.sources = append(l.sources, s.source(path))
	}
	l.watch = func(w *watchSet) {
		for _, watch := range watches {
			watch(w)
		}
	}
	return l
}

// below returns the known sources in a folder.
func (s FilePlace) below(dir string, known []hook.Source) (sources []hook.Source) {
	dir = strings.TrimSuffix(dir, "/") + "/"
	for _, source := range known {
		matches, _ := filepath.Match(s.Pattern, source.Path)
		if matches && source.Type == s.Type && strings.HasPrefix(source.Path, dir) {
			sources = append(sources, source)
		}
	}
	return sources
}

func (s FilePlace) source(path string) hook.Source { return hook.Source{Type: s.Type, Path: path} }

func hasMeta(path string) bool { return strings.ContainsAny(path, `*?[\`) }

// read reads one file once: the same bytes are parsed, summed and retained.
func (s FilePlace) read(source hook.Source) reading {
	r := reading{
		name: filepath.Base(source.Path), file: source.Path,
		files: []string{source.Path}, named: !hasMeta(s.Pattern),
	}
	text, err := readfile.Read(source.Path, readfile.Limit)
	if err != nil {
		r.absent = missing(source.Path, err)
		p := hook.Problem{File: source.Path, Message: "read " + s.Type + " file: " + readfile.Cause(err).Error()}
		if r.problems = []hook.Problem{p}; r.absent && r.named {
			p.Hint = "see `sources` in hookd.yaml"
			r.notes = []hook.Problem{p}
		}
		return r
	}
	hooks, problems := s.Parse(source.Path, text)
	sum(hooks, text)
	r.hooks = hooks
	for _, p := range problems {
		switch {
		case !p.Warning:
			r.problems = append(r.problems, p)
		case !slices.ContainsFunc(hooks, func(h *hook.Hook) bool { return slices.Contains(h.Problems, p) }):
			r.notes = append(r.notes, p)
		}
	}
	return r
}

// missing reports whether err means that there is no file at path.
func missing(path string, err error) bool {
	if errors.Is(err, fs.ErrPermission) {
		_, err = os.Lstat(path)
	}
	for _, none := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.ENOTDIR, syscall.ELOOP} {
		if errors.Is(err, none) {
			return true
		}
	}
	return false
}

func (s FilePlace) shared() bool { return false }

func (s FilePlace) contents(*hook.Hook) hook.Files { return hook.Files{} }

func (s FilePlace) hung(source hook.Source) reading {
	return hungReading(filepath.Base(source.Path), source.Path)
}

func (s FilePlace) restore(source hook.Source, text []byte, _ bool) []*hook.Hook {
	hooks, problems := s.Parse(source.Path, text)
	if hook.Rejects(problems) {
		return nil
	}
	sum(hooks, text)
	return hooks
}

// sum sets the sums of the hooks of one text. A hook's sum is that of its own
// definition if it has one, so that an edit of the file changes only the hooks that
// it concerns.
func sum(hooks []*hook.Hook, text []byte) {
	for _, h := range hooks {
		definition := strings.Join([]string{h.ID, h.Definition, h.MatcherText, h.Lane}, "\x00")
		if h.Definition == "" { // the whole file defines it
			definition += "\x00" + string(text)
		}
		h.Text, h.Sum = text, trust.Sum([]byte(definition))
	}
}

func (f fixed) restore(hook.Source, []byte, bool) []*hook.Hook { return nil }

// fixed is a place of hooks that were given on the command line.
type fixed []*hook.Hook

func (f fixed) list([]hook.Source, *readfile.Patience) listing {
	l := listing{watch: func(*watchSet) {}}
	for _, h := range f {
		l.sources = append(l.sources, hook.Source{Type: h.Source.Type, Path: h.ID})
	}
	return l
}

func (f fixed) read(source hook.Source) reading {
	for _, h := range f {
		if h.ID == source.Path {
			h := *h // it gets a seal
			h.Sum = trust.Sum([]byte(h.ID + "\x00" + h.Definition))
			return reading{name: h.Name, file: h.ID, hooks: []*hook.Hook{&h}}
		}
	}
	return reading{name: source.Path, file: source.Path}
}

func (f fixed) shared() bool { return false }

func (f fixed) contents(*hook.Hook) hook.Files { return hook.Files{} }

func (f fixed) hung(source hook.Source) reading { return hungReading(source.Path, source.Path) }

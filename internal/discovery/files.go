package discovery

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/readfile"
	"github.com/hookd/hookd/internal/trust"
)

// FileSource is a source whose units are files that hold many hooks.
type FileSource struct {
	Type    string // of hook.Source
	Pattern string // absolute path of a file, or a glob of them; see filepath.Match
	Parse   Parse  // of the file's text, as it is or was once
}

// Parse makes hooks of the text of the file at path, which it does not open.
type Parse = func(path string, text []byte) ([]*hook.Hook, []hook.Problem)

// ParseFile reads the file at path, once, and makes hooks of it.
func ParseFile(path string, parse Parse) ([]*hook.Hook, []hook.Problem) {
	path, err := filepath.Abs(path)
	if err == nil {
		var text []byte
		if text, err = readfile.Read(path, readfile.Limit); err == nil {
			return parse(path, text)
		}
	}
	return nil, []hook.Problem{{File: path, Message: cause(err).Error()}}
}

// list finds the files that the pattern may name now, folder by folder in byte
// order, so that a folder that does not answer keeps back only what is in it. A
// plain path that is not there is a problem; a glob may match nothing.
func (s FileSource) list(previous []hook.Source, files *readfile.Patience) listing {
	var l listing
	var watches []func(*spots)
	paths := []string{"/"}
	for _, part := range strings.Split(strings.TrimPrefix(s.Pattern, "/"), "/") {
		var next []string
		for _, dir := range paths {
			if !hasMeta(part) {
				next = append(next, filepath.Join(dir, part))
				continue
			}
			entries, err := readDir(dir, files)
			if errors.Is(err, errSilent) {
				l.problems = append(l.problems, hook.Problem{File: dir, Message: "look for " + s.Type + " files: " + err.Error()})
				l.units = append(l.units, s.below(dir, previous)...)
				continue
			}
			matches := func(name string) bool { ok, _ := filepath.Match(part, name); return ok } // config checks patterns
			watches = append(watches, func(w *spots) { w.entries(dir, matches) })
			for _, e := range entries {
				if matches(e.Name()) {
					next = append(next, filepath.Join(dir, e.Name()))
				}
			}
		}
		paths = next
	}
	for _, path := range paths {
		l.units = append(l.units, s.unit(path))
	}
	l.watch = func(w *spots) {
		for _, watch := range watches {
			watch(w)
		}
	}
	return l
}

// below are the units of the previous snapshot in a folder.
func (s FileSource) below(dir string, previous []hook.Source) (units []hook.Source) {
	for _, unit := range previous {
		if ok, _ := filepath.Match(s.Pattern, unit.Path); ok && unit.Type == s.Type && strings.HasPrefix(unit.Path, strings.TrimSuffix(dir, "/")+"/") {
			units = append(units, unit)
		}
	}
	return units
}

func (s FileSource) unit(path string) hook.Source { return hook.Source{Type: s.Type, Path: path} }

func hasMeta(path string) bool { return strings.ContainsAny(path, `*?[\`) }

// read reads one file, once: the bytes that are parsed are those that are
// summed and kept.
func (s FileSource) read(unit hook.Source) reading {
	r := reading{name: filepath.Base(unit.Path), file: unit.Path, files: []string{unit.Path}, named: !hasMeta(s.Pattern)}
	text, err := readfile.Read(unit.Path, readfile.Limit)
	if err != nil {
		r.absent = missing(unit.Path, err)
		p := hook.Problem{File: unit.Path, Message: "read " + s.Type + " file: " + cause(err).Error()}
		if r.problems = []hook.Problem{p}; r.absent && r.named {
			p.Hint = "see `sources` in hookd.yaml"
			r.notes = []hook.Problem{p}
		}
		return r
	}
	hooks, problems := s.Parse(unit.Path, text)
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

// missing reports whether there is no file, as far as can be seen.
func missing(path string, err error) bool {
	if errors.Is(err, fs.ErrPermission) {
		_, err = os.Lstat(path)
	}
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}

func (s FileSource) silent(unit hook.Source) reading {
	return silentReading(filepath.Base(unit.Path), unit.Path)
}

func (s FileSource) restore(unit hook.Source, text []byte) []*hook.Hook {
	hooks, problems := s.Parse(unit.Path, text)
	if (reading{problems: problems}).rejected() {
		return nil
	}
	sum(hooks, text)
	return hooks
}

// sum sums up the hooks of one text. A hook's sum is that of its own definition
// where it has one, so that an edit of the file changes only the hooks that it
// touches.
func sum(hooks []*hook.Hook, text []byte) {
	for _, h := range hooks {
		definition := strings.Join([]string{h.ID, h.Definition, h.MatcherText, h.Lane}, "\x00")
		if h.Definition == "" { // it has none of its own: the file is it
			definition += "\x00" + string(text)
		}
		h.Text, h.Sum = text, trust.Sum([]byte(definition))
	}
}

func (f fixed) restore(hook.Source, []byte) []*hook.Hook { return nil }

// fixed is a source of hooks that were given on the command line.
type fixed []*hook.Hook

func (f fixed) list([]hook.Source, *readfile.Patience) listing {
	l := listing{watch: func(*spots) {}}
	for _, h := range f {
		l.units = append(l.units, hook.Source{Type: h.Source.Type, Path: h.ID})
	}
	return l
}

func (f fixed) read(unit hook.Source) reading {
	for _, h := range f {
		if h.ID == unit.Path {
			h := *h // to be sealed
			h.Sum = trust.Sum([]byte(h.ID + "\x00" + h.Definition))
			return reading{name: h.Name, file: h.ID, hooks: []*hook.Hook{&h}}
		}
	}
	return reading{name: unit.Path, file: unit.Path}
}

func (f fixed) silent(unit hook.Source) reading { return silentReading(unit.Path, unit.Path) }

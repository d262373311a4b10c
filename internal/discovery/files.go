package discovery

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/trust"
)

// FileSource is a source whose units are files that hold many hooks.
type FileSource struct {
	Type    string // of hook.Source
	Pattern string // absolute path of a file, or a glob of them; see filepath.Match
	Read    func(path string) ([]*hook.Hook, []hook.Problem)
	Parse   func(path string, text []byte) ([]*hook.Hook, []hook.Problem) // Read for text that the file had once; nil = that cannot be
}

// list finds the files that the pattern names now, in byte order. A plain path
// that is not there is a problem; a glob may match nothing.
func (s FileSource) list(previous []hook.Source) listing {
	l := listing{watch: s.watch}
	if !hasMeta(s.Pattern) {
		if _, err := os.Stat(s.Pattern); err != nil && !known(previous, s.unit(s.Pattern)) {
			l.problems = []hook.Problem{{File: s.Pattern, Message: "read " + s.Type + " file: " + cause(err).Error(), Hint: "see `sources` in hookd.yaml"}}
			return l
		}
		l.units = []hook.Source{s.unit(s.Pattern)}
		return l
	}
	paths, err := filepath.Glob(s.Pattern) // in byte order
	if err != nil {
		l.problems = []hook.Problem{{File: s.Pattern, Message: "bad glob: " + err.Error(), Hint: "see `sources` in hookd.yaml"}}
	}
	for _, path := range paths {
		l.units = append(l.units, s.unit(path))
	}
	return l
}

func (s FileSource) unit(path string) hook.Source { return hook.Source{Type: s.Type, Path: path} }

func known(previous []hook.Source, unit hook.Source) bool {
	for _, p := range previous {
		if p == unit {
			return true
		}
	}
	return false
}

// watch adds every directory in which the pattern can come to match something.
func (s FileSource) watch(w *spots) {
	dirs := []string{"/"}
	for _, part := range strings.Split(strings.TrimPrefix(s.Pattern, "/"), "/") {
		var next []string
		for _, dir := range dirs {
			if !hasMeta(part) {
				next = append(next, filepath.Join(dir, part))
				continue
			}
			w.entries(dir, func(name string) bool { ok, _ := filepath.Match(part, name); return ok })
			found, _ := filepath.Glob(filepath.Join(dir, part)) // the pattern was checked as a whole
			next = append(next, found...)
		}
		dirs = next
	}
	for _, path := range dirs {
		w.link(path, 0)
	}
}

func hasMeta(path string) bool { return strings.ContainsAny(path, `*?[\`) }

// read reads one file. A hook's sum is that of its own definition where it has
// one, so that an edit of the file changes only the hooks that it touches.
func (s FileSource) read(unit hook.Source) reading {
	hooks, problems := s.Read(unit.Path)
	s.sum(unit, hooks)
	return reading{name: filepath.Base(unit.Path), file: unit.Path, hooks: hooks, problems: problems, files: []string{unit.Path}}
}

func (s FileSource) restore(unit hook.Source, text []byte) []*hook.Hook {
	if s.Parse == nil {
		return nil
	}
	hooks, problems := s.Parse(unit.Path, text)
	if (reading{problems: problems}).rejected() {
		return nil
	}
	s.sum(unit, hooks)
	return hooks
}

func (s FileSource) sum(unit hook.Source, hooks []*hook.Hook) {
	for _, h := range hooks {
		definition := strings.Join([]string{h.ID, h.Definition, h.MatcherText, h.Lane}, "\x00")
		if h.Definition == "" { // it has none of its own: the file is it
			text, _ := os.ReadFile(unit.Path) // it was there a moment ago
			definition += "\x00" + string(text)
		}
		h.Sum = trust.Sum([]byte(definition))
	}
}

func (f fixed) restore(hook.Source, []byte) []*hook.Hook { return nil }

// fixed is a source of hooks that were given on the command line.
type fixed []*hook.Hook

func (f fixed) list([]hook.Source) listing {
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

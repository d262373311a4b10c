package undo

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/facts"
)

// dots reports whether a pattern also stands for names that begin with a dot: those of a shell
// do not, those of find and of code may.
func (a *aimer) dots(e *facts.Effect) bool {
	if strings.Contains(e.Target, "**") {
		return true
	}
	set := func(w facts.Word) bool {
		return strings.Contains(w.Text, "dotglob") || strings.Contains(w.Text, "globdots")
	}
	return slices.ContainsFunc(a.f.Commands, func(c facts.Command) bool { return slices.ContainsFunc(c.Words, set) })
}

// expand returns the paths that exist and fit a target.
func (a *aimer) expand(target string, dots bool) (paths []string) {
	if !strings.ContainsAny(target, "*?[") {
		return []string{target}
	}
	if is, err := look(target); err == nil && is.Kind != kindGone { // the name has such letters
		paths = append(paths, target)
	}
	folder, rest := "/", strings.Split(strings.TrimPrefix(target, "/"), "/")
	for len(rest) > 0 && !strings.ContainsAny(rest[0], "*?[") {
		folder, rest = filepath.Join(folder, rest[0]), rest[1:]
	}
	deep := strings.Contains(target, "**")
	text := strings.ReplaceAll(target, "[^", "[!")
	whole, err := pattern.Compile(text, '/')
	flat, _ := pattern.Compile(strings.ReplaceAll(text, "/**/", "/"), '/') // ** may be no folder at all
	if deep && (err != nil || strings.Contains(text, "[:")) {
		a.doubt("a pattern that is not read: " + target)
		return paths
	}
	var below func(dir string, rest []string)
	below = func(dir string, rest []string) {
		list, err := os.ReadDir(dir)
		if err != nil || len(paths) > mostTargets || a.limits.over() {
			if len(paths) > mostTargets || err == nil {
				a.doubt("a pattern that fits more paths than there was time to look at: " + target)
			}
			return
		}
		for _, e := range list {
			path := filepath.Join(dir, e.Name())
			if !dots && strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(rest[0], ".") {
				continue
			}
			switch {
			case deep:
				if whole.Match(path) || flat.Match(path) {
					paths = append(paths, path)
				}
				if e.IsDir() {
					below(path, rest)
				}
			case !fits(rest[0], e.Name()):
			case len(rest) == 1:
				paths = append(paths, path)
			case e.IsDir() || e.Type()&os.ModeSymlink != 0:
				below(path, rest[1:])
			}
		}
	}
	below(folder, rest)
	return paths
}

// fits reports whether a name fits one part of a pattern; in doubt it does.
func fits(part, name string) bool {
	ok, err := pattern.MatchPath(part, name)
	return ok || err != nil || strings.Contains(part, "[:") // such as [[:digit:]]
}

// walkNames calls each with the paths below a folder, relative to it, until the budget is over.
// Links are not followed.
func walkNames(folder string, b *budget, each func(rel string, folder bool)) {
	var below func(rel string)
	below = func(rel string) {
		list, err := os.ReadDir(filepath.Join(folder, rel))
		if err != nil || b.over() { // what cannot be listed is not called
			return
		}
		for _, e := range list {
			name := filepath.Join(rel, e.Name())
			each(name, e.IsDir())
			if e.IsDir() {
				below(name)
			}
		}
	}
	below("")
}

// namesIn returns the names in a folder, and which of them are folders.
func namesIn(dir string) (names, folders []string) {
	list, err := os.ReadDir(dir)
	if err != nil { // it is listed again with the next call
		return nil, nil
	}
	for _, e := range list {
		names = append(names, e.Name())
		if e.IsDir() {
			folders = append(folders, e.Name())
		}
	}
	return names, folders
}

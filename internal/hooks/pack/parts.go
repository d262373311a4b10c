package pack

import (
	"path"
	"slices"
)

// Parts says which files of some content each of its hooks is made of. Content.Parts
// makes it.
type Parts struct {
	own    map[string][]int // by folder: the places of the files in it
	Shared []int            // the places of the files in no hook's folder
}

// Parts reads all paths once: content may have a thousand hooks.
func (c Content) Parts() Parts {
	p := Parts{own: map[string][]int{}}
	for _, folder := range c.HookFolders() {
		p.own[folder] = nil
	}
	for i, f := range c {
		inside := false
		for dir := path.Dir(f.Path); ; dir = path.Dir(dir) {
			if files, is := p.own[dir]; is {
				p.own[dir], inside = append(files, i), true
			}
			if dir == "." || dir == "/" {
				break
			}
		}
		if !inside {
			p.Shared = append(p.Shared, i)
		}
	}
	return p
}

// Of returns the places in the content of a hook's files, in order: those in its folder,
// and those in no hook's folder.
func (p Parts) Of(folder string) []int {
	places := slices.Concat(p.own[folder], p.Shared)
	slices.Sort(places)
	return places
}

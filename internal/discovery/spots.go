package discovery

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// spots is the set of directories to watch. Only real directories are in it,
// each once, whatever paths lead to it: the system tells directories apart by
// inode, and a second path to one would stay silent.
type spots struct {
	all    []*spot
	byPath map[string]*spot
	names  map[place]bool // entries that matter

	// Only while it is made; see done.
	byID   map[fileID]*spot
	real   map[string]string // directories that were followed: path to real path, "" = not there
	ids    map[string]fileID // of those that are real and were looked at
	linked map[string]bool   // entries that were followed
}

// done forgets what nobody asks for once all spots are in.
func (s *spots) done() { s.byID, s.real, s.ids, s.linked = nil, nil, nil, nil }

// spot is one directory and what in it matters.
type spot struct {
	dir     string
	id      fileID
	matches []func(name string) bool // entries that any of these accepts matter, but for writes into files
}

// place is an entry of a directory.
type place struct {
	in   *spot
	name string
}

type fileID struct{ dev, ino uint64 }

func idOf(info os.FileInfo) fileID {
	st := info.Sys().(*syscall.Stat_t)
	return fileID{uint64(st.Dev), st.Ino}
}

func newSpots() *spots {
	return &spots{
		byPath: map[string]*spot{}, names: map[place]bool{},
		byID: map[fileID]*spot{}, real: map[string]string{}, ids: map[string]fileID{}, linked: map[string]bool{},
	}
}

// entries watches the directory path: each entry that matches accepts, and the
// place where the directory itself comes and goes.
func (s *spots) entries(path string, matches func(string) bool) {
	s.name(s.follow(filepath.Dir(path), 0), filepath.Base(path))
	if sp := s.spot(s.follow(path, 0)); sp != nil {
		sp.matches = append(sp.matches, matches)
	}
}

// file watches what path means, through all links. Where the directory of a
// file costs a descriptor for each of its entries (kqueue), files outside of
// home are left to the full rescan.
func (s *spots) file(home, path string) {
	elsewhere := !strings.HasPrefix(path, home+string(filepath.Separator))
	if elsewhere && runtime.GOOS != "linux" {
		return
	}
	s.link(path, 0)
}

// link watches the entry path and, if it is a link, all that it leads to.
func (s *spots) link(path string, depth int) {
	if s.linked[path] {
		return
	}
	s.linked[path] = true
	dir := s.follow(filepath.Dir(path), depth)
	if dir == "" {
		return
	}
	s.name(dir, filepath.Base(path))
	if target, ok := readLink(filepath.Join(dir, filepath.Base(path))); ok && depth < maxLinks {
		s.link(target, depth+1)
	}
}

// maxLinks is where the system gives up as well.
const maxLinks = 40

// follow returns the real path of a directory, "" if there is none. On the
// way it adds each place where a change would make the path mean another
// directory: of links, of their targets, and where a part of it is missing.
func (s *spots) follow(path string, depth int) string {
	if real, ok := s.real[path]; ok {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path { // the root of the file system
		return path
	}
	real := ""
	if dir := s.follow(parent, depth); dir != "" {
		real = s.step(dir, filepath.Base(path), depth)
	}
	s.real[path] = real
	return real
}

// step returns the real directory that the entry name of the real directory
// dir is.
func (s *spots) step(dir, name string, depth int) string {
	path := filepath.Join(dir, name)
	info, err := os.Lstat(path)
	if err == nil && info.IsDir() {
		s.ids[path] = idOf(info)
		return path
	}
	s.name(dir, name)
	target, ok := readLink(path)
	if !ok || depth >= maxLinks {
		return ""
	}
	real := s.follow(target, depth+1)
	if real != "" {
		s.name(filepath.Dir(real), filepath.Base(real))
	}
	return real
}

// readLink returns the absolute target of a link whose directory is real.
func readLink(path string) (string, bool) {
	target, err := os.Readlink(path)
	if err != nil {
		return "", false
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(path), target)
	}
	return filepath.Clean(target), true
}

// name watches one entry of a real directory.
func (s *spots) name(dir, name string) {
	if sp := s.spot(dir); sp != nil {
		s.names[place{sp, name}] = true
	}
}

// spot returns the spot of a real directory, nil if it is gone meanwhile.
func (s *spots) spot(dir string) *spot {
	if sp, ok := s.byPath[dir]; ok || dir == "" {
		return sp
	}
	id, known := s.ids[dir]
	if !known {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() {
			return nil
		}
		id = idOf(info)
	}
	if s.byID[id] == nil {
		s.byID[id] = &spot{dir: dir, id: id}
		s.all = append(s.all, s.byID[id])
	}
	s.byPath[dir] = s.byID[id]
	return s.byID[id]
}

// matter reports whether a notification can mean that hooks have changed.
// Chmod counts: the x bit makes a hook runnable.
func (s *spots) matter(e fsnotify.Event) bool {
	if s.byPath[e.Name] != nil && e.Op != fsnotify.Write {
		return true // a watched directory itself
	}
	sp := s.byPath[filepath.Dir(e.Name)]
	if sp == nil {
		return false
	}
	name := filepath.Base(e.Name)
	if s.names[place{sp, name}] {
		return true
	}
	if e.Op == fsnotify.Write {
		return false
	}
	for _, matches := range sp.matches {
		if matches(name) {
			return true
		}
	}
	return false
}

package discovery

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// watchSet is the set of directories to watch. It has real directories only, each
// once, whatever paths lead to it: the system knows directories by inode, and a
// second path to one would get no notifications.
type watchSet struct {
	all    []*watchedDir
	byPath map[string]*watchedDir
	names  map[watchedEntry]bool // entries that matter

	// Only while it is made; see dropScratch.
	byID   map[fileID]*watchedDir
	real   map[string]string // directories that were followed: path to real path, "" = missing
	ids    map[string]fileID // of real directories
	linked map[string]bool   // entries that were followed
}

// dropScratch frees the maps that are used only while the set is made.
func (s *watchSet) dropScratch() { s.byID, s.real, s.ids, s.linked = nil, nil, nil, nil }

// watchedDir is one directory and which of its entries matter.
type watchedDir struct {
	dir     string
	id      fileID
	matches []func(name string) bool // entries that any of these accepts matter, except for writes into files
}

// watchedEntry is an entry of a directory.
type watchedEntry struct {
	in   *watchedDir
	name string
}

type fileID struct{ dev, ino uint64 }

func idOf(info os.FileInfo) fileID {
	st := info.Sys().(*syscall.Stat_t)
	return fileID{uint64(st.Dev), st.Ino}
}

func newWatchSet() *watchSet {
	return &watchSet{
		byPath: map[string]*watchedDir{}, names: map[watchedEntry]bool{},
		byID: map[fileID]*watchedDir{}, real: map[string]string{}, ids: map[string]fileID{}, linked: map[string]bool{},
	}
}

// entries watches the directory path: each entry that matches accepts, and the entry
// of the directory itself.
func (s *watchSet) entries(path string, matches func(string) bool) {
	s.name(s.follow(filepath.Dir(path), 0), filepath.Base(path))
	if sp := s.watchedDir(s.follow(path, 0)); sp != nil {
		sp.matches = append(sp.matches, matches)
	}
}

// file watches path and all links that it leads through. Where to watch a directory
// takes a descriptor for each of its entries (kqueue), files outside of home are not
// watched; the full rescan reads them.
func (s *watchSet) file(home, path string) {
	elsewhere := !strings.HasPrefix(path, home+string(filepath.Separator))
	if elsewhere && runtime.GOOS != "linux" {
		return
	}
	s.link(path, 0)
}

// link watches the entry path and, if it is a link, its targets.
func (s *watchSet) link(path string, depth int) {
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

// maxLinks is how many links the system follows in one path.
const maxLinks = 40

// follow returns the real path of a directory, "" if there is none. It watches each
// entry whose change would make the path lead to another directory: links, their
// targets, and the first missing part.
func (s *watchSet) follow(path string, depth int) string {
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

// step returns the real directory that an entry of the real directory dir leads to,
// "" if none.
func (s *watchSet) step(dir, name string, depth int) string {
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
func (s *watchSet) name(dir, name string) {
	if sp := s.watchedDir(dir); sp != nil {
		s.names[watchedEntry{sp, name}] = true
	}
}

// watchedDir returns the entry of a real directory, nil if it is gone.
func (s *watchSet) watchedDir(dir string) *watchedDir {
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
		s.byID[id] = &watchedDir{dir: dir, id: id}
		s.all = append(s.all, s.byID[id])
	}
	s.byPath[dir] = s.byID[id]
	return s.byID[id]
}

// matter reports whether a notification can mean that hooks have changed.
// Chmod counts: the x bit makes a hook runnable.
func (s *watchSet) matter(e fsnotify.Event) bool {
	if s.byPath[e.Name] != nil && e.Op != fsnotify.Write {
		return true // a watched directory itself
	}
	sp := s.byPath[filepath.Dir(e.Name)]
	if sp == nil {
		return false
	}
	name := filepath.Base(e.Name)
	if s.names[watchedEntry{sp, name}] {
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

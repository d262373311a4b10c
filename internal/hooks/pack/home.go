package pack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/hookd/hookd/internal/base/replacefile"
)

// Home is where packs are kept: packs/NAME in hookd's home, and hooks.lock.
type Home struct{ dir string }

// NewHome returns the packs of a home, which need not exist.
func NewHome(dir string) Home { return Home{dir} }

// PacksDir is the folder of all packs.
func (h Home) PacksDir() string { return filepath.Join(h.dir, "packs") }

// Dir is the folder of a pack; its name is as in hooks.lock.
func (h Home) Dir(name string) string { return filepath.Join(h.PacksDir(), filepath.FromSlash(name)) }

// LockedName is the name in hooks.lock of a pack that is called name: each hook
// of the gallery is a pack of its own there.
func LockedName(s Source, name string) string {
	if s.Kind == FromGallery {
		return Gallery + "/" + s.Location
	}
	return name
}

// Prefix is the text before the names of a pack's hooks.
func Prefix(lockedName string) string {
	first, _, _ := strings.Cut(lockedName, "/")
	return first + "/"
}

// Staged is a pack that was written beside the others, to be looked at before it
// is put in place.
type Staged struct {
	Dir     string // its folder
	Fetched Fetched

	home Home
	name string
}

// Stage writes a pack to a folder where no daemon looks for hooks. Put or
// Discard ends it.
func (h Home) Stage(name string, f Fetched) (*Staged, error) {
	dir, err := f.Content.Stage(h.PacksDir())
	if err != nil {
		return nil, err
	}
	return &Staged{Dir: dir, Fetched: f, home: h, name: name}, nil
}

// Discard removes the staged files; after Put there is nothing left to remove.
func (s *Staged) Discard() error { return os.RemoveAll(s.Dir) }

// Put puts the pack in place of the present one, if any, and notes it in
// hooks.lock.
func (s *Staged) Put() error {
	return s.home.locked(func() error {
		lock, err := s.home.Lock()
		if err != nil {
			return err
		}
		if err := s.home.swap(s.name, s.Dir); err != nil {
			return fmt.Errorf("put pack %s in place: %w", s.name, err)
		}
		lock.Packs[s.name] = lockOf(s.Fetched)
		return s.home.save(lock)
	})
}

// Remove takes a pack away, and its entry in hooks.lock first: hooks that are not
// in it do not run.
func (h Home) Remove(name string) error {
	return h.locked(func() error {
		lock, err := h.Lock()
		if err != nil {
			return err
		}
		delete(lock.Packs, name)
		if err := h.save(lock); err != nil {
			return err
		}
		return h.swap(name, "")
	})
}

// swap renames dir, or nothing, to be the folder of a pack. The one before goes.
func (h Home) swap(name, dir string) error {
	err := Swap(h.PacksDir(), name, dir)
	if parent := filepath.Dir(h.Dir(name)); parent != h.PacksDir() {
		_ = os.Remove(parent) // when it was the last
	}
	return err
}

// locked runs do while no other command changes packs.
func (h Home) locked(do func() error) error {
	return Alone(h.PacksDir(), "another hookd command changes packs", 0, do)
}

// Installed is the content of the folder of a pack.
func (h Home) Installed(name string) (Content, error) {
	c, err := ReadFolder(h.Dir(name))
	if err != nil {
		return nil, err
	}
	c, _, err = c.Check()
	return c, err
}

// Write writes the content into a folder, several folders at a time: a large bundle has a
// thousand of them. Files and folders of the content that are there stay: files get its
// bytes and retain their mode. Links in their place are not followed, but an error.
func (c Content) Write(dir string) error {
	files, outer, inner := map[string][]File{}, []string(nil), []string(nil) // by folder; outer ones hold others
	known := map[string]bool{}
	for _, f := range c {
		folder := path.Dir(f.Path)
		if files[folder] = append(files[folder], f); len(files[folder]) == 1 {
			inner = append(inner, folder)
		}
		for up := path.Dir(folder); up != "." && !known[up]; up = path.Dir(up) {
			outer, known[up] = append(outer, up), true
		}
	}
	slices.Sort(outer) // each before those in it
	for _, folder := range append([]string{"."}, outer...) {
		if err := makeFolder(filepath.Join(dir, filepath.FromSlash(folder))); err != nil {
			return err
		}
	}
	var writing sync.WaitGroup
	errs := make([]error, min(runtime.GOMAXPROCS(0), 8))
	for n := range errs {
		writing.Go(func() {
			for i := n; i < len(inner) && errs[n] == nil; i += len(errs) {
				errs[n] = writeFolder(filepath.Join(dir, filepath.FromSlash(inner[i])), files[inner[i]])
			}
		})
	}
	writing.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, f := range c { // when all files are there
		if f.Link != "" {
			if err := os.Symlink(f.Link, filepath.Join(dir, filepath.FromSlash(f.Path))); err != nil {
				return err
			}
		}
	}
	return nil
}

// makeFolder makes a folder, which may be there.
func makeFolder(dir string) error {
	err := os.Mkdir(dir, replacefile.FolderMode(dir))
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, statErr := os.Lstat(dir); statErr == nil && info.IsDir() {
		return nil
	}
	return err
}

// writeFolder makes a folder and writes the files in it that are no links.
func writeFolder(dir string, files []File) error {
	if err := makeFolder(dir); err != nil {
		return err
	}
	for _, f := range files {
		if f.Link != "" {
			continue
		}
		at := filepath.Join(dir, path.Base(f.Path))
		if err := writeFile(at, f.Data, uint32(replacefile.FileMode(at, f.Exec))); err != nil {
			return err
		}
	}
	return nil
}

// writeFile makes data the whole content of the file at path; mode is the mode of a new
// file. A link at path is an error. It uses the system's calls themselves: package os
// makes three times as many for each of thousands of small files. It shortens a file only
// where that is longer: ext4 writes an emptied file to the disk when it is closed.
func writeFile(path string, data []byte, mode uint32) error {
	const flags = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC
	fd := -1
	open := func() (err error) { fd, err = syscall.Open(path, flags, mode); return err }
	if err := interrupted(open); err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	if err := errors.Join(fill(fd, data), syscall.Close(fd)); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}

// fill makes data the whole content of an open file.
func fill(fd int, data []byte) error {
	for at := 0; at < len(data); {
		n := 0
		write := func() (err error) { n, err = syscall.Write(fd, data[at:]); return err }
		if err := interrupted(write); err != nil {
			return err
		}
		at += n
	}
	var now syscall.Stat_t
	if err := syscall.Fstat(fd, &now); err != nil || now.Size == int64(len(data)) {
		return err
	}
	return syscall.Ftruncate(fd, int64(len(data)))
}

package journal

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hookd/hookd/internal/base/replacefile"
)

// Files has the calls that a journal needs from a file system. Tests put in its place a file system that loses
// data that was not synced.
type Files interface {
	MkdirAll(dir string) error
	List(dir string) ([]string, error) // whole paths; none for a folder that is missing
	Create(path string) (File, error)  // empty, whether it was there or not
	Open(path string) (File, error)    // for reading and writing
	Rename(from, to string) error
	Link(from, to string) error // to becomes a second name of a file
	Remove(path string) error
	Free(dir string) (int64, error) // bytes that can be written
	SyncDir(dir string) error       // names that were made or removed survive a loss of power
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Sync() error                       // contents survive a loss of power
	SizeAt(path string) (int64, error) // fails unless path still names this file
}

// osFiles are those of the operating system.
type osFiles struct{}

type osFile struct{ *os.File }

func (osFiles) MkdirAll(dir string) error { return os.MkdirAll(dir, 0o700) }

func (osFiles) List(dir string) (paths []string, err error) {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range list {
		if e.Type().IsRegular() {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, err
}

func (osFiles) Create(path string) (File, error) { return create(path) }

func (osFiles) Open(path string) (File, error) { return open(path, os.O_RDWR) }

func create(path string) (osFile, error) { return open(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC) }

func open(path string, flags int) (osFile, error) {
	f, err := os.OpenFile(path, flags, 0o600)
	return osFile{f}, err
}

func (osFiles) Rename(from, to string) error { return os.Rename(from, to) }

// Link copies the file where the file system has no second names.
func (osFiles) Link(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

func (osFiles) Remove(path string) error { return os.Remove(path) }

func (osFiles) Free(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

func (osFiles) SyncDir(dir string) error { return replacefile.SyncDir(dir) }

func (f osFile) SizeAt(path string) (int64, error) {
	is, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	was, err := f.Stat()
	if err == nil && !os.SameFile(was, is) {
		err = fs.ErrNotExist
	}
	return is.Size(), err
}

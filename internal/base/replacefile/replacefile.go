// Package replacefile is the one way in which hookd replaces a file of its own: a reader
// sees the old text or the new one, also after a power cut and when two processes write at
// the same time. It blocks until the disk has the text.
package replacefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Write makes text the whole content of path, for the user alone (mode 0600), or below a
// shared folder, see Share, for every user to read (0644). The folder must exist. A file
// at path, also a link, is replaced. After an error it is as it was.
func Write(path string, text []byte) error { return write(path, text, FileMode(path, false)) }

// Rewrite is Write for a file that is there, whose mode stays as it is.
func Rewrite(path string, text []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return write(path, text, info.Mode().Perm())
}

func write(path string, text []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone by then when all went well
	_, err = f.Write(text)
	if mode != 0o600 {
		err = errors.Join(err, f.Chmod(mode))
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes new names in dir survive a loss of power; it does nothing where the file system cannot.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

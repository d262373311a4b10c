package connect

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
)

// maxFile bounds the size of a settings file that connect reads, in bytes.
const maxFile = 16 << 20

// mark is the byte order mark, which stays before a text that has it.
var mark = []byte("\xef\xbb\xbf")

// file is a settings file as it is now.
type file struct {
	real   string // where symbolic links lead
	text   []byte // without its byte order mark
	marked bool
	exists bool
	mode   fs.FileMode
}

// readFile reads a file; a missing file is empty.
func readFile(path string) (file, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			err := errors.New("it is a symbolic link to nothing: make its target, or remove it")
			return file{}, &FileError{path, 0, 0, err}
		}
		return file{real: path}, nil
	}
	if err != nil {
		return file{}, fmt.Errorf("read %s: %w", path, err)
	}
	text, err := readfile.Read(real, maxFile)
	switch {
	case errors.Is(err, readfile.ErrNotRegular):
		return file{}, &FileError{path, 0, 0, errors.New("it is not a regular file")}
	case errors.Is(err, readfile.ErrTooLarge):
		return file{}, &FileError{path, 0, 0, fmt.Errorf("it is larger than %d bytes", maxFile)}
	case err != nil:
		return file{}, fmt.Errorf("read %s: %w", path, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return file{}, fmt.Errorf("read %s: %w", path, err)
	}
	text, marked := bytes.CutPrefix(text, mark)
	return file{real, text, marked, true, info.Mode().Perm()}, nil
}

// Change is one file that Plan.Apply writes or removes.
type Change struct {
	Path          string // where it is, symbolic links followed
	Before, After []byte
	New           bool        // there is no file yet
	Remove        bool        // there is to be none
	Mode          fs.FileMode // of the file
	Dir           fs.FileMode // of folders that are missing
	Backup        string      // where Before is kept; "" = nowhere
	BackupMode    fs.FileMode // of the backup
	DropBackup    string      // a backup that is not needed any more
	OwnDir        bool        // with the last file its folder goes
}

// Diff shows the changes that Apply would make, as a unified diff; empty if none. It
// shows no token: a terminal's history and a log are read by others.
func (p Plan) Diff() []byte {
	var out bytes.Buffer
	for _, c := range p.Changes {
		from, to := c.Path, c.Path
		if c.New {
			from = os.DevNull
		}
		if c.Remove {
			to = os.DevNull
		}
		out.Write(diff.Diff(from, c.Before, to, c.After))
	}
	return bearer.ReplaceAll(out.Bytes(), []byte("Bearer TOKEN"))
}

// ErrChanged says that a file has changed since it was read, and was left alone.
var ErrChanged = errors.New("it has changed meanwhile")

// Apply writes the plan: first the backup, then the file, each in one step.
// A file that has changed since it was read is left alone. On an error the
// changes before the failed one are done, and those after it are not.
func (p Plan) Apply() error {
	for _, c := range p.Changes {
		if err := c.apply(); err != nil {
			return err
		}
	}
	return nil
}

func (c Change) apply() error {
	now, err := readfile.Read(c.Path, maxFile)
	if errors.Is(err, fs.ErrNotExist) != c.New || !bytes.Equal(now, c.Before) {
		return fmt.Errorf("write %s: %w", c.Path, ErrChanged)
	}
	if c.Backup != "" {
		if err := replace(c.Backup, c.Before, c.BackupMode); err != nil {
			return err
		}
	}
	if c.Remove {
		err = os.Remove(c.Path)
	} else if err = os.MkdirAll(filepath.Dir(c.Path), c.Dir); err == nil {
		err = replace(c.Path, c.After, c.Mode)
	}
	if err == nil && c.DropBackup != "" {
		err = os.Remove(c.DropBackup)
	}
	if c.Remove && c.OwnDir {
		_ = os.Remove(filepath.Dir(c.Path)) // as long as something is in it, it stays
	}
	return err
}

// tempPrefix begins the name of a file that is being written.
const tempPrefix = ".hookd-"

// replace writes a file in one step: a reader sees the old text or the
// new one, also after a power cut.
func replace(path string, text []byte, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix+"*") // 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = keepOwner(f, path)
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		err = replacefile.SyncDir(filepath.Dir(path))
	}
	return err
}

// keepOwner gives the file that takes path's place the owner of the file that is there:
// where root writes, users must still be able to read their own settings.
func keepOwner(f *os.File, path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Stat(filepath.Dir(path))
	}
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t)
	return f.Chown(int(owner.Uid), int(owner.Gid))
}

// with puts the byte order mark back.
func (f file) with(text []byte) []byte {
	if !f.marked || text == nil {
		return text
	}
	return slices.Concat(mark, text)
}

package pack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hookd/hookd/internal/base/replacefile"
)

// Prefixes of folders beside those of packs, or of a policy's bundles, from which no daemon reads
// hooks. A killed process may leave either.
const (
	newPrefix = ".new-" // content is written there
	oldPrefix = ".old-" // of a folder that another has replaced
)

// Stage writes the content to a new folder in root, where no daemon looks for hooks.
func (c Content) Stage(root string) (dir string, err error) {
	if err := replacefile.MkdirAll(root); err != nil {
		return "", err
	}
	if dir, err = replacefile.MkdirTemp(root, newPrefix+"*"); err != nil {
		return "", err
	}
	if err := c.Write(dir); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// Swap renames dir, or nothing where that is "", to be the folder of that name in root. The one before goes.
func Swap(root, name, dir string) error {
	at := filepath.Join(root, name)
	old := filepath.Join(root, oldPrefix+strings.ReplaceAll(name, "/", "-"))
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	before := os.Rename(at, old)
	if before != nil && !errors.Is(before, fs.ErrNotExist) {
		return before
	}
	if dir != "" {
		if err := replacefile.MkdirAll(filepath.Dir(at)); err != nil {
			return err
		}
		if err := os.Rename(dir, at); err != nil {
			if before == nil {
				err = errors.Join(err, os.Rename(old, at)) // back as it was
			}
			return err
		}
	}
	return os.RemoveAll(old)
}

// Alone runs do while no other process does so in root, which is made. It fails where another one goes on
// for longer than patience; busy says so to people.
func Alone(root, busy string, patience time.Duration, do func() error) error {
	if err := replacefile.MkdirAll(root); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(root, ".lock"), os.O_CREATE|os.O_RDWR|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() // which gives the lock back
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return do()
		case errors.Is(err, syscall.EINTR), errors.Is(err, syscall.EWOULDBLOCK) && time.Since(begin) < patience:
		case errors.Is(err, syscall.EWOULDBLOCK):
			return fmt.Errorf("%s now: try again when it has ended", busy)
		default:
			return err
		}
	}
}

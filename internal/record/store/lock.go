package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockPath is the file beside a database that is locked as long as it is open.
// It stays: removing it would let two processes lock two files.
func lockPath(path string) string { return path + "-lock" }

// lockPatience is for a hookd that was killed a moment ago: the kernel takes a
// while to end a process. A process that hookd was about to start has the lock until it has
// become another program.
const lockPatience = 5 * time.Second

// lockDatabase keeps the database at path to this process: two of them would
// give the same numbers and run each other's events. It fails with ErrLocked
// after patience.
func lockDatabase(path string, patience time.Duration) (*os.File, error) {
	// Opening it reports a bad path.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	f, err := os.OpenFile(lockPath(path), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	// It was just opened: Stat fails for an odd file only.
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("lock %s: not a regular file", f.Name())
	}
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return f, nil
		case errors.Is(err, syscall.EINTR), errors.Is(err, syscall.EWOULDBLOCK) && time.Since(begin) < patience:
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			err = fmt.Errorf("open %s: %w: give each home a store.path of its own", path, ErrLocked)
		}
		f.Close()
		return nil, err
	}
}

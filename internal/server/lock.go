package server

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// LockedError says that another daemon runs on the same home.
type LockedError struct {
	Path string
	PID  int // of the holder; 0 = it has not written it yet
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("lock %s: another hookd holds it; look at it with: hookd status", e.Path)
	}
	return fmt.Sprintf(
		"lock %s: hookd already runs with pid %d; look at it with: hookd status; stop it with: kill %d",
		e.Path,
		e.PID,
		e.PID,
	)
}

// takeLock takes the lock that says "this home has its daemon" and writes the
// pid into it. The kernel gives it up when the process ends, however it ends.
// The file stays: removing it would let two processes lock two files.
func takeLock(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		f.Close()
		return nil, err
	}
	if err := writePID(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("write pid to %s: %w", path, err)
	}
	return f, nil
}

// lockPatience is for a predecessor that was killed a moment ago: the kernel
// takes a while to end a process, and one that it was about to start still has
// the lock until it has become another program.
const lockPatience = time.Second

func lockFile(f *os.File) error {
	for begin := time.Now(); ; {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch err {
		case nil:
			return nil
		case unix.EINTR:
			continue
		case unix.EWOULDBLOCK:
			if time.Since(begin) < lockPatience {
				time.Sleep(10 * time.Millisecond)
				continue
			}
			return &LockedError{Path: f.Name(), PID: readPID(f)}
		}
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
}

func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func readPID(f *os.File) int {
	text, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

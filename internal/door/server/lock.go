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
// pid into it; before is the pid of the daemon before, 0 = there was none. The kernel
// gives it up when the process ends, however it ends.
// The file stays: removing it would let two processes lock two files.
func takeLock(path string) (f *os.File, before int, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, 0, err
	}
	f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, 0, err
	}
	if err := lockFile(f); err != nil {
		f.Close()
		return nil, 0, err
	}
	before = readPID(f)
	if err := writePID(f); err != nil {
		f.Close()
		return nil, 0, fmt.Errorf("write pid to %s: %w", path, err)
	}
	return f, before, nil
}

// How long to wait for the lock and the socket of a daemon that was killed a moment ago. The
// kernel takes a while to end a process. A child that the daemon was about to start has both
// until it executes its program, which takes long where the machine is busy.
const (
	lockPatience   = time.Second     // while the holder runs
	killedPatience = 5 * time.Second // when it does not run any more
	waitStep       = 10 * time.Millisecond
)

func lockFile(f *os.File) error {
	for begin := time.Now(); ; {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch err {
		case nil:
			return nil
		case unix.EINTR:
			continue
		case unix.EWOULDBLOCK:
			holder, waited := readPID(f), time.Since(begin)
			if waited < lockPatience || waited < killedPatience && holder != 0 && !runs(holder) {
				time.Sleep(waitStep)
				continue
			}
			return &LockedError{Path: f.Name(), PID: holder}
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

// runs reports whether there is a process with this pid.
func runs(pid int) bool { return unix.Kill(pid, 0) != unix.ESRCH }

func readPID(f *os.File) int {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

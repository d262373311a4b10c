package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// Session returns the session and the process group of pid, which are the
// pid of the run that it belongs to unless it left them. ok is false when
// there is no such process.
func Session(pid int) (sid, pgid int, ok bool) {
	if pid <= 0 {
		return 0, 0, false
	}
	sid, err := unix.Getsid(pid)
	if err != nil {
		return 0, 0, false
	}
	pgid, err = unix.Getpgid(pid)
	return sid, pgid, err == nil
}

// Child reports whether pid is a child of this process, also one that has ended
// and was not reaped.
func Child(pid int) bool {
	r, ok := readRow(pid)
	return ok && r.ppid == os.Getpid()
}

// GroupAlive reports whether the process group has a member. As long as it
// has, its number is not given to another.
func GroupAlive(pgid int) bool {
	if pgid <= 1 {
		return false
	}
	err := unix.Kill(-pgid, 0)
	return err == nil || err == unix.EPERM
}

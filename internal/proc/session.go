package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// Session returns the session and the process group of pid. For a process of a run
// both are the pid of the run's first process, unless it has left them. ok is false
// when there is no such process.
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

// Child reports whether pid is a child of this process, or was one and is not
// reaped yet.
func Child(pid int) bool {
	r, ok := readRow(pid)
	return ok && r.ppid == os.Getpid()
}

// GroupAlive reports whether the process group has a member. While it has, no other
// group gets its number.
func GroupAlive(pgid int) bool {
	if pgid <= 1 {
		return false
	}
	err := unix.Kill(-pgid, 0)
	return err == nil || err == unix.EPERM
}

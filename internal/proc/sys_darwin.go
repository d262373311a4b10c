package proc

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pipe returns a pipe whose reading end does not block.
func pipe() (r, w int, err error) {
	fds := []int{-1, -1}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(fds); err != nil {
		return -1, -1, err
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	return fds[0], fds[1], unix.SetNonblock(fds[0], true)
}

func event() (fd, raise int, err error) { return pipe() }

// stdinOf returns a file without a name with data in it.
func stdinOf(data [][]byte) (fd int, link string, err error) { return tempStdin(data) }

// watchExit returns a kqueue that is readable once pid has ended. -1 is none: it
// could not be made, or pid has ended already.
func watchExit(pid, _ int) int {
	kq, err := unix.Kqueue()
	if err != nil {
		return -1
	}
	unix.CloseOnExec(kq)
	exit := unix.Kevent_t{Fflags: unix.NOTE_EXIT}
	unix.SetKevent(&exit, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ENABLE|unix.EV_ONESHOT)
	exit.Fflags = unix.NOTE_EXIT
	if _, err := unix.Kevent(kq, []unix.Kevent_t{exit}, nil, nil); err != nil {
		unix.Close(kq)
		return -1
	}
	return kq
}

// wait is one poll. A zero until is no limit.
func wait(fds []unix.PollFd, until time.Time) error {
	timeout := -1
	if !until.IsZero() {
		timeout = int(max(time.Until(until)+time.Millisecond-1, 0) / time.Millisecond)
	}
	_, err := unix.Poll(fds, timeout)
	return err
}

// noexec reports whether the file system of path forbids execution.
func noexec(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && fs.Flags&unix.MNT_NOEXEC != 0
}

package proc

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// pipe returns a pipe whose reading end does not block.
func pipe() (r, w int, err error) {
	fds := []int{-1, -1}
	if err := unix.Pipe2(fds, unix.O_CLOEXEC); err != nil {
		return -1, -1, err
	}
	_, err = unix.FcntlInt(uintptr(fds[0]), unix.F_SETFL, unix.O_NONBLOCK)
	return fds[0], fds[1], err
}

func event() (fd, raise int, err error) {
	fd, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	return fd, fd, err
}

// leastPipe is the number of bytes that the smallest pipe holds.
const leastPipe = 4096

// stdinOf returns a descriptor with data to read, and its link in the process
// table. It is a pipe without a writer, or, for more than every pipe holds, a file in
// memory, which costs twice as much. The child of a start at the same moment holds
// the writing end until its exec; a reader sees the end of the data after that.
func stdinOf(data [][]byte) (fd int, link string, err error) {
	var fds [2]int
	if size(data) > leastPipe || unix.Pipe2(fds[:], unix.O_CLOEXEC) != nil {
		return memoryStdin(data)
	}
	if size(data) > 0 {
		_, err = unix.Write(fds[1], bytes.Join(data, nil))
	}
	unix.Close(fds[1])
	if err != nil {
		unix.Close(fds[0])
		return -1, "", err
	}
	return fds[0], pipeLink(fds[0]), nil
}

// memoryStdin returns data as a file in memory.
func memoryStdin(data [][]byte) (fd int, link string, err error) {
	name := "hookd-" + strconv.FormatUint(rand.Uint64(), 16)
	fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL { // before Linux 6.3
		fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	}
	if err != nil {
		return tempStdin(data)
	}
	at := int64(0)
	for _, part := range data {
		for len(part) > 0 {
			n, err := unix.Pwrite(fd, part, at)
			if err != nil && err != unix.EINTR {
				unix.Close(fd)
				return -1, "", err
			}
			n = max(n, 0)
			part, at = part[n:], at+int64(n)
		}
	}
	return fd, "/memfd:" + name + " (deleted)", nil
}

// watchExit returns a descriptor that is readable once pid has ended and is not
// reaped: the pidfd, or on a kernel without one (before 5.3) a pipe. -1 is none.
func watchExit(pid, pidfd int) int {
	if pidfd >= 0 {
		return pidfd
	}
	r, w, err := pipe()
	if err != nil {
		return -1
	}
	go func() {
		defer unix.Close(w)
		for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		}
	}()
	return r
}

// wait is one ppoll. A zero until is no limit.
func wait(fds []unix.PollFd, until time.Time) error {
	var timeout *unix.Timespec
	if !until.IsZero() {
		t := unix.NsecToTimespec(max(time.Until(until), 0).Nanoseconds())
		timeout = &t
	}
	_, err := unix.Ppoll(fds, timeout, nil)
	return err
}

// noexec reports whether the file system of path forbids execution.
func noexec(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && fs.Flags&unix.ST_NOEXEC != 0
}

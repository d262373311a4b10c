package proc

import (
	"bytes"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// processes reads the process table.
func processes() (map[int]row, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	table := make(map[int]row, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if r, ok := readRow(pid); ok {
				table[pid] = r
			}
		}
	}
	if _, ok := table[os.Getpid()]; !ok {
		return nil, os.ErrNotExist // another's /proc, or none
	}
	return table, nil
}

// readRow reads /proc/PID/stat (proc_pid_stat(5)). The name of the program,
// in parentheses, may hold anything.
func readRow(pid int) (row, bool) {
	var buf [1024]byte
	text, err := readAbout(pid, "stat", buf[:])
	if err != nil || len(text) == 0 {
		return row{}, false
	}
	return parseRow(pid, text)
}

// readAbout reads a file of /proc/PID that the kernel writes at once: into buf, or where it
// does not fit, into memory of its own. It takes three system calls; os.ReadFile takes ten,
// and one such file is read for each connection.
func readAbout(pid int, name string, buf []byte) ([]byte, error) {
	path := "/proc/" + strconv.Itoa(pid) + "/" + name
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, buf)
	switch {
	case err != nil:
		return nil, err
	case n == len(buf):
		return os.ReadFile(path)
	}
	return buf[:n], nil
}

func parseRow(pid int, stat []byte) (row, bool) {
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(f) < 20 {
		return row{}, false
	}
	number := func(i int) int { n, _ := strconv.Atoi(string(f[i])); return n }
	start, err := strconv.ParseUint(string(f[19]), 10, 64)
	state := f[0][0]
	return row{
		pid: pid, ppid: number(1), sid: number(3), start: start,
		stopped: state == 'T' || state == 't',
		dead:    state == 'Z' || state == 'X' || state == 'x',
		tty:     number(4) != 0,
		pty:     isPseudoTerminal(number(4)),
	}, err == nil
}

// openHandle returns a pidfd for r, -1 if it is gone or the kernel has none.
func openHandle(r row) int {
	fd, err := unix.PidfdOpen(r.pid, 0)
	if err != nil {
		return -1
	}
	if now, ok := readRow(r.pid); !ok || now.start != r.start {
		unix.Close(fd)
		return -1
	}
	return fd
}

func closeHandle(fd int) { closeAll([]int{fd}) }

func sendSignal(m *member, s unix.Signal) error {
	if m.handle >= 0 {
		return unix.PidfdSendSignal(m.handle, s, nil, 0)
	}
	if now, ok := readRow(m.pid); !ok || now.start != m.start {
		return unix.ESRCH
	}
	return unix.Kill(m.pid, s)
}

// linkOf returns the link of one of our descriptors, as in /proc/PID/fd.
func linkOf(fd int) string {
	if fd < 0 {
		return ""
	}
	link, _ := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd)) // "" fits no other
	return link
}

// holds reports whether pid has one of links as descriptor 0, 1 or 2. Others do not
// count: a process of another run may have opened a pipe to look at it.
func holds(pid int, links []string) bool {
	for _, fd := range []string{"/fd/0", "/fd/1", "/fd/2"} {
		link, err := os.Readlink("/proc/" + strconv.Itoa(pid) + fd)
		if err == nil && slices.Contains(links, link) {
			return true
		}
	}
	return false
}

// handleEnded reports whether the process of a handle has ended.
func handleEnded(fd int) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Ppoll(fds, &unix.Timespec{}, nil)
		if err != unix.EINTR {
			return err != nil || n > 0
		}
	}
}

// isPseudoTerminal reports whether the device with a number is the slave of one: devices.txt of Linux, 136 to 143.
func isPseudoTerminal(device int) bool {
	major := unix.Major(uint64(device))
	return 136 <= major && major <= 143
}

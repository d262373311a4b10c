package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// bootID identifies this boot of the machine and this pid namespace: a pid and a start
// time mean nothing in another boot or namespace. "" if unknown.
func bootID() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
}

// tableClock returns the time in the unit in which the process table has the start
// of a process: ticks since boot.
func tableClock() uint64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return 0
	}
	return uint64(t.Nano()) / (uint64(time.Second) / userHZ)
}

const userHZ = 100 // on all that Go runs on

// startSpan returns when a process was started that did not exist at since. To read
// that from the process table would cost five times as much.
func startSpan(_ int, since uint64) span { return span{since, tableClock()} }

// inode returns the number of a folder, 0 if there is none.
func inode(dir string) uint64 {
	var st unix.Stat_t
	if dir == "" || unix.Lstat(dir, &st) != nil {
		return 0
	}
	return st.Ino
}

// pipeLink is linkOf for a pipe, at a fifth of the cost.
func pipeLink(fd int) string {
	var st unix.Stat_t
	if fd < 0 || unix.Fstat(fd, &st) != nil {
		return ""
	}
	return "pipe:[" + strconv.FormatUint(st.Ino, 10) + "]"
}

// sweepCgroup kills the processes in the cgroup of a run, unless this process is in
// it: the hook may have started it.
func sweepCgroup(o owner, e entry, until time.Time) (found bool, left int) {
	if e.Cgroup == "" || e.Cgroup != filepath.Base(e.Cgroup) || !owns(o) {
		return false, 0
	}
	dir := filepath.Join(o.Cgroup, e.Cgroup)
	if _, _, self := ownCgroup(); strings.HasPrefix(self+"/", dir+"/") {
		return false, 0
	}
	g := openCgroup(dir)
	if g == nil {
		return false, 0
	}
	defer g.close()
	if found = g.populated(); found && g.kill() {
		left = g.left(until)
	}
	return found, left
}

// owns reports whether the folder is still the folder that the journal names.
func owns(o owner) bool { return o.Inode != 0 && inode(o.Cgroup) == o.Inode }

// removeCgroups removes the predecessor's folders that are empty now.
func removeCgroups(o owner) {
	if !owns(o) {
		return
	}
	runs, _ := filepath.Glob(filepath.Join(o.Cgroup, "run-*")) // the pattern is right
	for _, dir := range runs {
		removeCgroup(dir)
	}
	unix.Rmdir(o.Cgroup)
}

package proc

import (
	"os"
	"strconv"
	"strings"
)

// Program returns the path of the program that a process runs, as the kernel knows it;
// "" when there is no such process or it is another user's.
func Program(pid int) string {
	path, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	return strings.TrimSuffix(path, " (deleted)")
}

// Comm returns the name that the kernel shows for a process, which it may have given
// itself; "" when there is no such process.
func Comm(pid int) string {
	var buf [64]byte
	text, _ := readAbout(pid, "comm", buf[:])
	return strings.TrimSpace(string(text))
}

// cgroupFile is what the kernel says of the cgroups of a process; "" when that is not known.
func cgroupFile(pid int) string {
	var buf [1024]byte
	text, _ := readAbout(pid, "cgroup", buf[:])
	return string(text)
}

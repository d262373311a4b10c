package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// Program returns the path of the program that a process runs, as the kernel knows it;
// "" when there is no such process or it is another user's.
func Program(pid int) string {
	path, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe") // "" where it is not known
	return strings.TrimSuffix(path, " (deleted)")
}

// programFile returns a path by which the file is found that a process runs, also when it was replaced.
func programFile(pid int) string { return "/proc/" + strconv.Itoa(pid) + "/exe" }

// Comm returns the name that the kernel shows for a process, which it may have given
// itself; "" when there is no such process.
func Comm(pid int) string {
	var buf [64]byte
	text, _ := readAbout(pid, "comm", buf[:])
	return strings.TrimSpace(string(text))
}

// cgroupFile is the kernel's text on the cgroups of a process; "" when that is not known.
func cgroupFile(pid int) string {
	var buf [1024]byte
	text, _ := readAbout(pid, "cgroup", buf[:])
	return string(text)
}

// CommandLine returns the arguments of a process, its program first; nil when there is no
// such process. The process may have written them itself.
func CommandLine(pid int) []string {
	var buf [4096]byte
	text, _ := readAbout(pid, "cmdline", buf[:])
	return arguments(text)
}

// firstOfContainer reports whether a process is the first of a pid namespace below ours, and
// so adopts the orphans in it.
func firstOfContainer(pid int) bool {
	var buf [4096]byte
	text, _ := readAbout(pid, "status", buf[:])
	for line := range bytes.Lines(text) {
		if numbers, ok := bytes.CutPrefix(line, []byte("NSpid:")); ok {
			list := bytes.Fields(numbers)
			return len(list) > 1 && string(list[len(list)-1]) == "1"
		}
	}
	return false
}

package proc

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// Program returns the path of the program that a process runs, as it was started; ""
// when there is no such process or it is another user's.
func Program(pid int) string {
	args, err := unix.SysctlRaw("kern.procargs2", pid) // an int with the number of arguments, then the path
	if err != nil || len(args) < 5 {
		return ""
	}
	path, _, _ := bytes.Cut(args[4:], []byte{0})
	return string(path)
}

// cgroupFile is "": macOS has no cgroups.
func cgroupFile(int) string { return "" }

// Comm returns "": the name of another user's process is not looked up.
func Comm(int) string { return "" }

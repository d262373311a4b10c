package proc

import (
	"bytes"
	"encoding/binary"

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

// programFile returns the path of the file that a process runs.
func programFile(pid int) string { return Program(pid) }

// cgroupFile is "": macOS has no cgroups.
func cgroupFile(int) string { return "" }

// Comm returns "": the name of another user's process is not looked up.
func Comm(int) string { return "" }

// CommandLine returns the arguments of a process, its program first; nil when there is no
// such process or it is another user's.
func CommandLine(pid int) []string {
	text, err := unix.SysctlRaw("kern.procargs2", pid) // their number, the path, NULs, then each of them
	if err != nil || len(text) < 5 {
		return nil
	}
	_, rest, _ := bytes.Cut(text[4:], []byte{0})
	all := arguments(bytes.TrimLeft(rest, "\x00"))
	return all[:min(len(all), int(binary.NativeEndian.Uint32(text)))]
}

// firstOfContainer is false: macOS has no pid namespaces.
func firstOfContainer(int) bool { return false }

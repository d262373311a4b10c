package filelimit

import "unsafe"

var first, known = now()

// now returns the limit of this program at the moment.
func now() (l Limit, ok bool) {
	const noFile = 7 // RLIMIT_NOFILE
	_, _, errno := rawSyscall6(prlimit64, 0, noFile, 0, uintptr(unsafe.Pointer(&l)), 0, 0)
	return l, errno == 0
}

// Raised returns the limit that this program was started with, if Go has raised it since
// and nothing has changed it after that; Go's own fork puts it back on the same condition.
func Raised() (l Limit, raised bool) {
	if !known {
		return Limit{}, false
	}
	l, ok := now()
	return first, ok && l != first && l.Soft == l.Hard-1 && l.Hard == first.Hard
}

//go:linkname rawSyscall6 syscall.RawSyscall6
//go:uintptrescapes
func rawSyscall6(number, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2, errno uintptr)

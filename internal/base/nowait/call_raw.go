//go:build linux && !race

package nowait

import (
	"syscall"
	"unsafe"
)

// TryRead is one read(2): EAGAIN when there is nothing, and no bytes at the end.
func TryRead(fd int, b []byte) (int, error) { return call(syscall.SYS_READ, fd, b) }

func put(fd int, b []byte) (int, error) { return call(syscall.SYS_WRITE, fd, b) }

func call(number uintptr, fd int, b []byte) (int, error) {
	for {
		n, _, err := syscall.RawSyscall(number,
			uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		switch err {
		case 0:
			return int(n), nil
		case syscall.EINTR:
		default:
			return 0, err
		}
	}
}

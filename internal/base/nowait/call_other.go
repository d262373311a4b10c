//go:build !linux || race

package nowait

import "syscall"

// The race detector takes data that goes through a descriptor for synchronized, but
// only where package syscall reads and writes.

// TryRead is one read(2): EAGAIN when there is nothing, and no bytes at the end.
func TryRead(fd int, b []byte) (int, error) { return call(syscall.Read, fd, b) }

func put(fd int, b []byte) (int, error) { return call(syscall.Write, fd, b) }

func call(do func(int, []byte) (int, error), fd int, b []byte) (int, error) {
	for {
		n, err := do(fd, b)
		switch err {
		case nil:
			return n, nil
		case syscall.EINTR:
		default:
			return 0, err
		}
	}
}

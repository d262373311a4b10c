// Package nowait reads and writes descriptors that never block, such as sockets
// and our ends of pipes, by system calls that Go's scheduler does not know of.
//
// An ordinary system call might block, so Go's scheduler watches it, and the first
// one after a pause wakes the thread that watches. On a small machine this thread
// runs in place of the process that has just got its line; a verdict has six such
// calls and takes a tenth longer. A call that cannot block needs no watching.
//
// The package opens, closes and times nothing. It must not be used with a
// descriptor that can block: the whole program would stop.
package nowait

import (
	"errors"
	"io"
	"syscall"
)

// Read waits until there is something to read, and reads it. io.EOF is the end. A
// deadline, or the close of the file or socket of conn, ends the wait with its error.
func Read(conn syscall.RawConn, b []byte) (n int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	waited := conn.Read(func(fd uintptr) bool {
		n, err = TryRead(int(fd), b)
		return !errors.Is(err, syscall.EAGAIN)
	})
	switch {
	case waited != nil:
		return 0, waited
	case err == nil && n == 0:
		err = io.EOF
	}
	return n, err
}

// Write writes all of b, and waits while there is no room.
func Write(conn syscall.RawConn, b []byte) (n int, err error) {
	waited := conn.Write(func(fd uintptr) bool {
		n, err = puts(int(fd), b, n)
		return !errors.Is(err, syscall.EAGAIN)
	})
	if waited != nil {
		err = waited
	}
	return n, err
}

// TryWrite writes as much of b as there is room for: less is no error.
func TryWrite(conn syscall.RawConn, b []byte) (n int, err error) {
	closed := conn.Write(func(fd uintptr) bool {
		n, err = puts(int(fd), b, 0)
		return true
	})
	if closed != nil {
		err = closed
	}
	if errors.Is(err, syscall.EAGAIN) {
		err = nil
	}
	return n, err
}

// puts writes b from n on, and returns how many bytes of b are written.
func puts(fd int, b []byte, n int) (int, error) {
	for n < len(b) {
		some, err := put(fd, b[n:])
		if err != nil {
			return n, err
		}
		n += some
	}
	return n, nil
}

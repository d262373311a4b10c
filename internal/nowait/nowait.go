// Package nowait reads and writes descriptors that never block, such as sockets
// and our ends of pipes, without a word to Go's scheduler.
//
// The scheduler wants to know of each system call, since it might block, and the
// first one after a rest wakes the thread that watches for that. On a small
// machine this thread runs in place of the process that was just given its line,
// and a verdict has six such calls: it comes a tenth later. Calls that cannot
// block need no watching.
//
// What it does not do: open, close or time anything. A descriptor that can block
// must not be given to it; the whole program would stand still.
package nowait

import (
	"errors"
	"io"
	"syscall"
)

// Read waits for something to read and takes it. io.EOF is the end; deadlines
// and the close of what conn belongs to end the wait with their errors.
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

// puts writes b from n on, and returns how far it came.
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

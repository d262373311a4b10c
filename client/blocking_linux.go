package client

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// blocking is a connection of one goroutine. Its calls wait in the system, which also ends
// them at their deadline: Go's poller, its timers and the threads that they wake would take
// a twentieth of the time of a program that asks once. Close does not end a call that waits.
type blocking struct {
	fd              int
	readBy, writeBy time.Time // zero = no deadline
}

func (b *blocking) Read(p []byte) (int, error) {
	for {
		if err := b.limit(syscall.SO_RCVTIMEO, b.readBy); err != nil {
			return 0, err
		}
		n, err := syscall.Read(b.fd, p)
		switch {
		case n > 0 || err == nil && len(p) == 0:
			return n, nil
		case err == nil:
			return 0, io.EOF
		case !again(err):
			return 0, os.NewSyscallError("read", err)
		}
	}
}

func (b *blocking) Write(p []byte) (done int, err error) {
	for done < len(p) {
		if err := b.limit(syscall.SO_SNDTIMEO, b.writeBy); err != nil {
			return done, err
		}
		n, err := syscall.Write(b.fd, p[done:])
		if err != nil && !again(err) {
			return done, os.NewSyscallError("write", err)
		}
		done += max(n, 0)
	}
	return done, nil
}

// limit gives the next call until a deadline; zero = it has none. After the deadline the
// error is os.ErrDeadlineExceeded.
func (b *blocking) limit(option int, by time.Time) error {
	var left time.Duration // for the system, too, 0 is no limit
	if !by.IsZero() {
		if left = time.Until(by); left <= 0 {
			return os.ErrDeadlineExceeded
		}
		left = max(left, time.Millisecond)
	}
	limit := syscall.NsecToTimeval(left.Nanoseconds())
	return os.NewSyscallError("setsockopt", syscall.SetsockoptTimeval(b.fd, syscall.SOL_SOCKET, option, &limit))
}

// again reports whether a call is to be made again: a signal or its limit has ended it.
func again(err error) bool { return errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.EAGAIN) }

func (b *blocking) Close() error { return os.NewSyscallError("close", syscall.Close(b.fd)) }

func (b *blocking) SetDeadline(t time.Time) error {
	b.readBy, b.writeBy = t, t
	return nil
}

func (b *blocking) SetReadDeadline(t time.Time) error {
	b.readBy = t
	return nil
}

func (b *blocking) SetWriteDeadline(t time.Time) error {
	b.writeBy = t
	return nil
}

func (b *blocking) SyscallConn() (syscall.RawConn, error) { return descriptor(b.fd), nil }

// descriptor is a descriptor that Go does not poll.
type descriptor int

func (d descriptor) Control(f func(fd uintptr)) error {
	f(uintptr(d))
	return nil
}

func (descriptor) Read(func(fd uintptr) bool) error  { return errors.ErrUnsupported }
func (descriptor) Write(func(fd uintptr) bool) error { return errors.ErrUnsupported }

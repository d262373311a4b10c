package peer

import (
	"errors"
	"sync"
	"syscall"
	"unsafe"
)

// From <asm-generic/socket.h> and <poll.h>.
const (
	soPeerPIDFD = 77
	pollIn      = 1
)

type pollFD struct {
	fd              int32
	events, revents int16
}

// hasEnded asks the socket for a descriptor of the process that connected: the kernel noted
// the process itself at the connect.
func hasEnded(socket int) (ended, known bool) {
	pidfd, err := syscall.GetsockoptInt(socket, syscall.SOL_SOCKET, soPeerPIDFD)
	switch {
	case errors.Is(err, syscall.ESRCH), errors.Is(err, syscall.EINVAL):
		return true, true // it was reaped
	case err != nil:
		return false, false
	}
	defer syscall.Close(pidfd)
	for {
		poll, now := pollFD{fd: int32(pidfd), events: pollIn}, syscall.Timespec{}
		_, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&poll)), 1,
			uintptr(unsafe.Pointer(&now)), 0, 0, 0)
		if errno != syscall.EINTR {
			return errno != 0 || poll.revents != 0, true
		}
	}
}

// hasHandles asks a socket of our own.
var hasHandles = sync.OnceValue(func() bool {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer syscall.Close(pair[0])
	defer syscall.Close(pair[1])
	_, known := hasEnded(pair[0])
	return known
})

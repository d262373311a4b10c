package peer

import "syscall"

// Handle holds on to the process that connected, not to its number, which another process may
// get. The zero Handle knows no process.
type Handle struct{ socket syscall.RawConn }

// HandleOf returns the handle of the process at the other end of a connection.
func HandleOf(socket syscall.RawConn) Handle { return Handle{socket} }

// Ended reports whether the process has ended, also while no other process has reaped it; a
// connection that is closed has no process. known is false where the system has no handle: on
// Linux before 6.5 and on macOS.
func (h Handle) Ended() (ended, known bool) {
	if h.socket == nil {
		return false, false
	}
	err := h.socket.Control(func(fd uintptr) { ended, known = hasEnded(int(fd)) })
	if err != nil {
		return true, true
	}
	return ended, known
}

// HasHandles reports whether the system has handles.
func HasHandles() bool { return hasHandles() }

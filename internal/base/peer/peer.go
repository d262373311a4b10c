// Package peer asks the kernel which process is at the other end of a Unix socket. The
// kernel recorded that when the connection was made, so nothing that the process sends
// changes it. Both ends use it: the server for processes that connect, the client for
// the process that listens.
//
// It uses the standard library alone, because the bridge does. It never blocks.
package peer

import (
	"errors"
	"os"
	"syscall"
)

// Process is the process at the other end. Of a listener that was passed on, it is the
// process that began to listen: the service manager, for its sockets.
type Process struct {
	UID, PID int
}

// Trusted reports whether the process runs as this user or as root.
func (p Process) Trusted() bool { return p.UID == 0 || p.UID == os.Geteuid() }

// Of returns the process at the other end of a connection.
func Of(socket syscall.RawConn) (p Process, err error) {
	var asked error
	err = socket.Control(func(fd uintptr) { p, asked = credentials(int(fd)) })
	return p, errors.Join(err, asked)
}

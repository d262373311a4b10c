package server

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// listenPrivate sets the mode before the bind: Linux gives the new file the
// mode of the unbound socket, so there is no moment in which others may
// connect, and the umask of the process is left alone.
func listenPrivate(path string) (net.Listener, error) {
	private := func(_, _ string, raw syscall.RawConn) error {
		var mode error
		err := raw.Control(func(fd uintptr) { mode = unix.Fchmod(int(fd), 0o600) })
		if err != nil {
			return err
		}
		return mode
	}
	return listenWith(net.ListenConfig{Control: private}, path)
}

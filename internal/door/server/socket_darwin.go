package server

import (
	"net"

	"golang.org/x/sys/unix"
)

// listenPrivate narrows the umask while it binds: macOS has no mode for an
// unbound socket. The umask is the whole process's, so the daemon listens
// before it starts anything that makes files.
func listenPrivate(path string) (net.Listener, error) {
	old := unix.Umask(0o177)
	defer unix.Umask(old)
	return listenWith(net.ListenConfig{}, path)
}

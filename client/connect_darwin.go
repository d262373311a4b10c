package client

import "net"

// open connects to a socket.
func open(path string) (socket, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	return conn, nil
}

// openBlocking connects to a socket for one goroutine.
func openBlocking(path string) (socket, error) { return open(path) }

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
